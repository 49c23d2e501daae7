import type { Message } from "../../chats/chats/messages";
import { Messages } from "../../chats/chats/messages";
import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import type { OutgoingTextRow } from "./outgoing-texts";
import { split } from "./split";
import { Threads } from "./threads";

/**
 * Claims the assistant's unsent messages of a chat and stores them as outgoing texts. Runs in a transaction, so that
 * only one caller sends them.
 * @param afterSequence claims only if the answer has a higher sequence number than this
 * @returns the texts to send; undefined if there is no answer yet
 */
export async function takeMessages(
  scope: Scope,
  chatId: string,
  via: OutgoingTextRow["via"],
  afterSequence = 0,
): Promise<readonly Pick<OutgoingTextRow, "id" | "body">[] | undefined> {
  const threads = scope.of(Threads);
  const thread = await threads.lock(chatId);
  if (!thread) return undefined;
  const messages = await scope.of(Messages).after(chatId, thread.sentSequence);
  if (!messages.some((message) => isAnswer(message) && message.sequence > afterSequence)) return undefined;
  const words = messages
    .filter(({ role }) => role === "ASSISTANT")
    .map(({ content }) => content?.trim() ?? "");
  const texts = split(words.filter((text) => text !== "").join("\n\n"));
  await threads.sentUpTo(chatId, messages.at(-1)!.sequence);
  const messageId = messages.findLast(isAnswer)?.id;
  const rows = texts.map((body) => ({ id: newId(), chatId, via, body, messageId }));
  await scope.insertAll("sms_sent", rows);
  return rows;
}

/** Greetings and words before a function call are sent together with the answer that follows. */
const isAnswer = ({ role, content, toolCalls, metadata }: Message): boolean =>
  role === "ASSISTANT" && toolCalls === null && metadata.greeting !== true && !!content?.trim();
