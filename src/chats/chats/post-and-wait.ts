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

/**
 * Posts a message and waits for the assistant's answer.
 * @returns the answer; after 60 s the posted message, and the turn continues
 * @throws CHAT_NOT_FOUND, CHAT_ENDED
 */
export async function postAndWait(fresh: () => Scope, input: PostMessageInput): Promise<Message> {
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
    if (posted.role !== "USER") return posted;
    const until = performance.now() + ANSWER_TIMEOUT_MS;
    while (performance.now() < until) {
      await signal.wait(Math.min(POLL_INTERVAL_MS, until - performance.now()));
      const answer = answerAmong(localMessages, posted) ?? (await answerTo(fresh(), posted));
      if (answer) return answer;
      // The end of the chat may have stored a last message after the check above.
      const { status } = await fresh().of(Chats).byId(posted.chatId);
      if (status === "ended") return (await answerTo(fresh(), posted)) ?? posted;
    }
    return posted;
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
