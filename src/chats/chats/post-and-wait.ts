import type { Scope } from "../../platform/database/scope";
import { CHATS_CHANNEL } from "../../events/events/record";
import { Bell } from "./bell";
import { Chats } from "./chats";
import { Messages, type Message, type PostMessageInput } from "./messages";
import { hearStored } from "./stored-here";

/** How long an answer is waited for, in milliseconds. */
const ANSWER_TIMEOUT_MS = 60_000;
/** How often it is looked for when no notification comes. */
const POLL_INTERVAL_MS = 2_000;

/**
 * Posts a message and waits for the assistant's answer.
 * @returns the answer; after 60 s the posted message, while the turn goes on
 * @throws CHAT_NOT_FOUND, CHAT_ENDED
 */
export async function postAndWait(fresh: () => Scope, input: PostMessageInput): Promise<Message> {
  const { listener } = fresh().ports;
  const bell = new Bell();
  const here: Message[] = [];
  const silence = [
    listener.on(CHATS_CHANNEL, ({ chatId, change }) => {
      if (chatId === input.aiChatId && change !== "USER") bell.ring();
    }),
    hearStored(input.aiChatId, (message) => {
      here.push(message);
      if (message.role !== "USER") bell.ring();
    }),
  ];
  try {
    const posted = await fresh().of(Messages).post(input);
    if (posted.role !== "USER") return posted;
    const until = performance.now() + ANSWER_TIMEOUT_MS;
    while (performance.now() < until) {
      await bell.rung(Math.min(POLL_INTERVAL_MS, until - performance.now()));
      const answer = answerAmong(here, posted) ?? (await answerTo(fresh(), posted));
      if (answer) return answer;
      // A conversation can end with another word or without, which may have been stored since.
      const { status } = await fresh().of(Chats).byId(posted.chatId);
      if (status === "ended") return (await answerTo(fresh(), posted)) ?? posted;
    }
    return posted;
  } finally {
    silence.forEach((end) => end());
  }
}

async function answerTo(scope: Scope, posted: Message): Promise<Message | undefined> {
  return answerAmong(await scope.of(Messages).after(posted.chatId, posted.sequence), posted);
}

const answerAmong = (messages: readonly Message[], { sequence: asked }: Message): Message | undefined =>
  messages.find(
    ({ role, toolCalls, sequence }) => role === "ASSISTANT" && toolCalls === null && sequence > asked,
  );
