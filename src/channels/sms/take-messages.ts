import type { Message } from "../../chats/chats/messages";
import { Messages } from "../../chats/chats/messages";
import { newId } from "../../platform/database/ids";
import type { Scope } from "../../platform/database/scope";
import type { SentRow } from "./sent";
import { split } from "./split";
import { Threads } from "./threads";

/**
 * Takes what an assistant said in a chat and nobody has taken yet, to send it: in a transaction, so that of all who
 * would send it one does.
 * @param behind only where the answer stands behind this place in the chat
 * @returns the texts to send; undefined where nothing is to be said yet
 */
export async function takeMessages(
  scope: Scope,
  chatId: string,
  via: SentRow["via"],
  behind = 0,
): Promise<readonly Pick<SentRow, "id" | "body">[] | undefined> {
  const threads = scope.of(Threads);
  const thread = await threads.hold(chatId);
  if (!thread) return undefined;
  const messages = await scope.of(Messages).after(chatId, thread.sentSequence);
  if (!messages.some((message) => isAnswer(message) && message.sequence > behind)) return undefined;
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

/** A greeting, and words before a function is called, go out with the answer behind them. */
const isAnswer = ({ role, content, toolCalls, metadata }: Message): boolean =>
  role === "ASSISTANT" && toolCalls === null && metadata.greeting !== true && !!content?.trim();
