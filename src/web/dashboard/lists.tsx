import { Card } from "./card";
import { CHANNEL_NAMES } from "./data";
import { number, share, time } from "./format";
import type { AssistantUse, Question } from "./operations.generated";
import type { Sheet } from "./sheet";

const REASONS: Readonly<Record<Question["reason"], string>> = {
  NOT_KNOWN: "Didn’t know",
  ERROR: "Error",
  NO_ANSWER: "No answer",
};

export type Open = (chat: { assistantId: string; id: string; title: string }) => void;

/** Unanswered questions. */
export function Questions({ questions, open }: { questions: readonly Question[]; open: Open }) {
  const sheet: Sheet = {
    name: "Unanswered questions",
    columns: ["Asked", "Channel", "Question", "Answer", "Why"],
    rows: questions.map(({ askedAt, channel, question, answer, reason }) => [
      askedAt,
      CHANNEL_NAMES[channel],
      question,
      answer,
      REASONS[reason],
    ]),
  };
  return (
    <Card
      wide
      plain
      sheet={sheet}
      note="Newest questions that the assistant didn’t know, failed to answer or left unanswered"
      empty="Every question was answered."
    >
      <ul class="questions">
        {questions.map(({ messageId, chatId, assistantId, channel, question, answer, reason, askedAt }) => (
          <li key={messageId}>
            <button type="button" onClick={() => open({ assistantId, id: chatId, title: question })}>
              <span class={reason === "NOT_KNOWN" ? "badge wait" : "badge bad"}>{REASONS[reason]}</span>
              <span class="said">
                <strong dir="auto">{question}</strong>
                {answer !== null && <span dir="auto">{answer}</span>}
              </span>
              <span class="when">
                {CHANNEL_NAMES[channel]} · {time(askedAt)}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

export function Assistants({ assistants }: { assistants: readonly AssistantUse[] }) {
  const maxConversations = Math.max(1, ...assistants.map(({ conversations }) => conversations));
  const sheet: Sheet = {
    name: "Assistants",
    columns: ["Assistant", "Conversations", "Messages", "Questions", "Unanswered"],
    rows: assistants.map(({ name, conversations, messages, questions, unanswered }) => [
      name,
      conversations,
      messages,
      questions,
      unanswered,
    ]),
  };
  return (
    <Card wide plain sheet={sheet} note="By conversations started">
      <div class="scroll" tabIndex={0} role="region" aria-label="Table: Assistants">
        <table>
          {ASSISTANTS_HEAD}
          <tbody>
            {assistants.map((use) => (
              <AssistantRow key={use.assistantId} use={use} maxConversations={maxConversations} />
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

const ASSISTANTS_HEAD = (
  <thead>
    <tr>
      <th scope="col">Assistant</th>
      <th scope="col" class="number">
        Conversations
      </th>
      <td class="meter" />
      <th scope="col" class="number">
        Messages
      </th>
      <th scope="col" class="number">
        Unanswered
      </th>
    </tr>
  </thead>
);

const AssistantRow = ({ use, maxConversations }: { use: AssistantUse; maxConversations: number }) => (
  <tr>
    <th scope="row" class="name">
      <bdi>{use.name}</bdi> {use.deleted && <span class="badge">Deleted</span>}
    </th>
    <td class="number">{number(use.conversations)}</td>
    <td class="meter" aria-hidden="true">
      <span style={{ width: `${(use.conversations / maxConversations) * 100}%` }} />
    </td>
    <td class="number">{number(use.messages)}</td>
    <td class="number">{share(use.unanswered, use.questions)}</td>
  </tr>
);
