import type { Scope } from "../../platform/database/scope";
import { CHATS_CHANNEL } from "../../events/events/record";
import { Signal } from "./signal";
import { Chats } from "./chats";
import { Messages, type Message, type PostMessageInput } from "./messages";
import { onStored } from "./local-messages";

/** Time to wait for an answer. */
const ANSWER_TIMEOUT_MS = 60_000;
/** Interval of checks for an answer, because notifications can be lost. */
const POLL_INTERVAL_MS = 2_000;

/** A posted message with the assistant's answer, which is null if there is none yet. */
export type AnsweredMessage = Message & { readonly reply: Message | null };

/**
 * Posts a message, and waits for the assistant's answer if asked to.
 * @param wait whether to wait and return the answer
 * @param withReply whether to wait and return the message with the answer
 * @throws CHAT_NOT_FOUND, CHAT_ENDED
 */
export async function postMessage(
  scope: Scope,
  fresh: () => Scope,
  input: PostMessageInput,
  { wait, withReply }: { readonly wait?: boolean; readonly withReply?: boolean },
): Promise<Message | AnsweredMessage> {
  if (!wait && !withReply) return scope.of(Messages).post(input);
  const message = await postAndWait(fresh, input);
  if (message.role === "USER" && message.reply === null) scope.warn(UNANSWERED);
  return withReply ? message : (message.reply ?? message);
}

const UNANSWERED =
  "The assistant has not answered in time. If it does later, the answer is among the chat's messages.";

/** Posts a message and waits for the assistant's answer. After 60 s the turn continues without its caller. */
async function postAndWait(fresh: () => Scope, input: PostMessageInput): Promise<AnsweredMessage> {
  const { listener } = fresh().ports;
  const signal = new Signal();
  const localMessages: Message[] = [];
  const unsubscribe = [
    listener.on(CHATS_CHANNEL, ({ chatId, change }) => {
      if (chatId === input.aiChatId && change !== "USER") signal.notify();
    }),
    onStored(input.aiChatId, (message) => {
      localMessages.push(message);
      if (message.role !== "USER") signal.notify();
    }),
  ];
  try {
    const posted = await fresh().of(Messages).post(input);
    if (posted.role !== "USER") return { ...posted, reply: null };
    const until = performance.now() + ANSWER_TIMEOUT_MS;
    while (performance.now() < until) {
      await signal.wait(Math.min(POLL_INTERVAL_MS, until - performance.now()));
      const answer = answerAmong(localMessages, posted) ?? (await answerTo(fresh(), posted));
      if (answer) return { ...posted, reply: answer };
      // The end of the chat may have stored a last message after the check above.
      const { status } = await fresh().of(Chats).byId(posted.chatId);
      if (status === "ended") return { ...posted, reply: (await answerTo(fresh(), posted)) ?? null };
    }
    return { ...posted, reply: null };
  } finally {
    unsubscribe.forEach((end) => end());
  }
}

async function answerTo(scope: Scope, posted: Message): Promise<Message | undefined> {
  return answerAmong(await scope.of(Messages).after(posted.chatId, posted.sequence), posted);
}

const answerAmong = (messages: readonly Message[], { sequence: posted }: Message): Message | undefined =>
  messages.find(
    ({ role, toolCalls, sequence }) => role === "ASSISTANT" && toolCalls === null && sequence > posted,
  );
