import { useEffect, useRef, useState } from "preact/hooks";
import { ExpiredTokenError } from "./api";
import { CHANNEL_NAMES, transcript, type Log, type LogMessage } from "./data";
import { Failed } from "./notices";
import { seconds, time, timeOfDay, words } from "./format";

export interface OpenedLog {
  readonly assistantId: string;
  readonly id: string;
  readonly title: string;
}
interface TranscriptProps {
  readonly log: OpenedLog;
  /** Name of its assistant, if that is known. */
  readonly speaker: string | undefined;
  readonly close: () => void;
  readonly failed: (error: Error) => void;
}

/** The log, or an error and a function that tries again. */
function useLog({ log: opened, failed }: TranscriptProps) {
  const [log, show] = useState<Log>();
  const [problem, complain] = useState<string>();
  const [round, next] = useState(0);
  useEffect(() => {
    complain(undefined);
    transcript(opened.assistantId, opened.id)
      .then(show)
      .catch((error: Error) =>
        error instanceof ExpiredTokenError ? failed(error) : complain(error.message),
      );
  }, [opened, round]);
  return { log, problem, again: () => next(round + 1) };
}

/** A dialog that is open from its first to its last rendering. @param close called if the viewer closes it */
function useModal(close: () => void) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const box = dialog.current!;
    const opener = document.activeElement as HTMLElement | null;
    box.showModal();
    box.addEventListener("close", close);
    return () => {
      box.removeEventListener("close", close);
      box.close();
      opener?.focus(); // a dialog that leaves the page does not return the focus
    };
  }, []);
  return dialog;
}

/** Transcript of one conversation, in a panel beside the page. */
export function Transcript(props: TranscriptProps) {
  const dialog = useModal(props.close);
  const { log, problem, again } = useLog(props);
  return (
    <dialog
      ref={dialog}
      class="transcript"
      aria-labelledby="transcript-title"
      onClick={({ target }) => target === dialog.current && dialog.current?.close()}
    >
      <header>
        <div>
          <h2 id="transcript-title" dir="auto">
            {props.log.title || "Conversation"}
          </h2>
          {log && <About log={log} speaker={props.speaker} />}
        </div>
        <button type="button" class="quiet" aria-label="Close" onClick={() => dialog.current?.close()}>
          ✕
        </button>
      </header>
      {problem !== undefined && <Failed message={problem} again={again} />}
      <div class="said-all" tabIndex={0} role="region" aria-label="Transcript">
        {log ? (
          <Said log={log} />
        ) : (
          problem === undefined && (
            <p class="empty" role="status">
              Loading …
            </p>
          )
        )}
      </div>
    </dialog>
  );
}

interface AboutProps extends Pick<TranscriptProps, "speaker"> {
  readonly log: Log;
}

function About({ speaker, log: { type, createdAt, lengthSeconds, metadata, recordingUrl } }: AboutProps) {
  const { status, endedReason, phoneNumber } = metadata;
  const parts = [
    CHANNEL_NAMES[type],
    time(createdAt),
    lengthSeconds !== null && seconds(lengthSeconds),
    status === "ended" ? words(endedReason ?? "ended") : "Live",
    phoneNumber,
  ];
  return (
    <p>
      {speaker && (
        <>
          <bdi>{speaker}</bdi>
          {" · "}
        </>
      )}
      {parts.filter(Boolean).join(" · ")}
      {/^https?:/.test(recordingUrl) && (
        <>
          {" · "}
          <a href={recordingUrl} target="_blank" rel="noreferrer noopener">
            Recording
          </a>
        </>
      )}
    </p>
  );
}

function Said({ log: { messages } }: { log: Log }) {
  const { items } = messages;
  if (items.length === 0) return <p class="empty">No messages.</p>;
  const answers = new Map(items.map((message) => [message.toolCallId, message]));
  return (
    <ol class="messages">
      {items.map((message) => (
        <Spoken key={message.id} message={message} answers={answers} />
      ))}
    </ol>
  );
}

const WHO = { USER: "Person", ASSISTANT: "Assistant", SYSTEM: "Note", TOOL: "Function" } as const;

function Spoken({ message, answers }: { message: LogMessage; answers: Map<string | undefined, LogMessage> }) {
  const { role, content, toolCalls = [], toolCallId, metadata, createdAt } = message;
  if (role === "TOOL" && toolCallId !== undefined) return null; // shown with its call
  return (
    <>
      {content && (
        <li class={`message ${role.toLowerCase()}`}>
          <p class="who">
            {WHO[role]} <time dateTime={createdAt}>{timeOfDay(createdAt)}</time>
            {metadata?.error && <span class="badge bad">Error</span>}
            {metadata?.local && (
              <span class="badge" title="Looked up in the assistant’s texts, without a model">
                Local
              </span>
            )}
          </p>
          <p class="words" dir="auto">
            {content}
          </p>
        </li>
      )}
      {toolCalls.map(({ id, name, arguments: args }) => (
        <FunctionCall key={id} name={name} args={args} answer={answers.get(id)} />
      ))}
    </>
  );
}

function FunctionCall({
  name,
  args,
  answer,
}: {
  name: string;
  args: unknown;
  answer?: LogMessage | undefined;
}) {
  const failed = answer?.metadata?.failed === true;
  return (
    <li class="message function">
      <details>
        <summary>
          Called <code>{name}</code>{" "}
          <span class={failed ? "badge bad" : "badge"}>{failed ? "Failed" : "Done"}</span>
        </summary>
        <pre tabIndex={0}>{JSON.stringify(args, undefined, 2)}</pre>
        {answer?.content !== undefined && <pre tabIndex={0}>{answer.content}</pre>}
      </details>
    </li>
  );
}
