import { holdWarnings, isHeld } from "../../account/organization/hold-notice";
import type { Scope } from "../../platform/database/scope";
import { CHATS_CHANNEL } from "../../events/events/record";
import { Signal } from "./signal";
import { Chats } from "./chats";
import { Messages, type Message, type MessageRow, type PostMessageInput } from "./messages";
import { onStored } from "./local-messages";

/** Time to wait for an answer. */
const ANSWER_TIMEOUT_MS = 60_000;
/** Interval of checks for an answer, because notifications can be lost. */
const POLL_INTERVAL_MS = 1_000;

/** A posted message with the assistant's answer, which is null if there is none yet. */
export type AnsweredMessage = Message & { readonly reply: Message | null };

/**
 * Posts a message, and waits for the assistant's answer if asked to.
 * @param wait whether to wait and return the answer
 * @param withReply whether to wait and return the message with the answer
 * @param id the message's id: if an earlier attempt has stored it, only waits
 * @throws CHAT_NOT_FOUND, CHAT_ENDED
 */
export async function postMessage(
  scope: Scope,
  fresh: () => Scope,
  input: PostMessageInput,
  { wait, withReply, id }: { readonly wait?: boolean; readonly withReply?: boolean; readonly id?: string },
): Promise<Message | AnsweredMessage> {
  if (!wait && !withReply) return scope.of(Messages).post(input);
  const message = await postAndWait(fresh, input, { id, warn: (text) => scope.warn(text) });
  if (message.role !== "USER") scope.warn(NOT_ANSWERED);
  else if (message.reply === null) scope.warn((await holdWarnings(scope))[0] ?? UNANSWERED);
  return withReply ? message : (message.reply ?? message);
}

const NOT_ANSWERED = "Waiting had no effect: the assistant answers only messages of the role USER.";
const UNANSWERED =
  "The assistant has not answered in time. If it does later, the answer is among the chat's messages.";

/** Posts a message and waits for the assistant's answer. After 60 s, or while the installation is held, the turn continues without its caller. */
async function postAndWait(
  fresh: () => Scope,
  input: PostMessageInput,
  { id, warn }: { readonly id?: string; readonly warn: (text: string) => void },
): Promise<AnsweredMessage> {
  const posting = fresh();
  const { organizationId, ports } = posting;
  const signal = new Signal();
  const localMessages: MessageRow[] = [];
  const unsubscribe = [
    ports.listener.on(CHATS_CHANNEL, ({ change, ...ids }) => {
      const isOurs = ids.organizationId === organizationId && ids.chatId === input.aiChatId;
      if (isOurs && change !== "USER") signal.notify();
    }),
    onStored(posting, input.aiChatId, (message) => {
      localMessages.push(message);
      if (message.role !== "USER") signal.notify();
    }),
  ];
  try {
    const messages = posting.of(Messages);
    const posted = await (id === undefined ? messages.post(input) : messages.postOnce(id, input));
    posting.notes.warnings.forEach(warn);
    if (posted.role !== "USER") return { reply: null, ...posted };
    if (id !== undefined) signal.notify(); // the answer may be there already
    const until = performance.now() + ANSWER_TIMEOUT_MS;
    do {
      await signal.wait(Math.min(POLL_INTERVAL_MS, until - performance.now()));
      const answer = answerAmong(localMessages, posted) ?? (await answerTo(fresh(), posted));
      if (answer) return { reply: answer, ...posted };
      const chat = await fresh().of(Chats).row(posted.chatId);
      // The message may have been answered, or the chat have ended, after the check above.
      if (!chat || chat.status === "ended" || chat.answeredSequence >= posted.sequence)
        return { reply: await lastAnswerTo(fresh(), posted), ...posted };
    } while (performance.now() < until && !(await isHeld(fresh())));
    return { reply: null, ...posted };
  } finally {
    unsubscribe.forEach((end) => end());
  }
}

const readAfter = async (scope: Scope, { chatId, sequence }: Message): Promise<MessageRow[]> =>
  scope.of(Messages).after(chatId, sequence);

const answerTo = async (scope: Scope, posted: Message): Promise<Message | undefined> =>
  answerAmong(await readAfter(scope, posted), posted);

/** The answer to a message in a chat where no other will come. Servers of earlier versions store no `answersUpTo`. */
async function lastAnswerTo(scope: Scope, posted: Message): Promise<Message | null> {
  const messages = await readAfter(scope, posted);
  const first = messages.find(({ role, toolCalls }) => role === "ASSISTANT" && toolCalls === null);
  return answerAmong(messages, posted) ?? first ?? null;
}

const answerAmong = (messages: readonly MessageRow[], { sequence: posted }: Message): Message | undefined =>
  messages.find(({ answersUpTo }) => answersUpTo !== null && answersUpTo >= posted);
