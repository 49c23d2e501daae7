import type { ChatRow } from "../../chats/chats/chats";
import { measureAgain } from "../../chats/analytics/measure-again";
import { Messages, type Message } from "../../chats/chats/messages";
import { labelFrom } from "../../chats/chats/store-message";
import { EndUsers } from "../../chats/chats/end-users";
import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import { EventBodies } from "../../events/events/bodies";
import { Events } from "../../events/events/events";
import type { CallRow } from "./calls";
import { reportsOf } from "./claims";
import { FROM_CONVERSATION } from "./transcript";
import { wholeTranscript, wordsOf, type Turn } from "./whole-transcript";

/** One line of the conversation: a stored message, a turn to be stored, or both if the message's text changes. */
interface Line {
  readonly message?: Message;
  readonly turn?: Turn;
}

/** Temporary offset of sequence numbers, larger than any number of messages in a call. */
const SEQUENCE_OFFSET = 1_000_000_000;

/**
 * Makes the messages of a call match its whole transcript, as far as the engine has reported it. Stored messages keep
 * their ids. Runs in a transaction that has locked the chat's row.
 * @returns whether anything changed
 */
export async function settleTranscript(scope: Scope, chat: ChatRow, call: CallRow): Promise<boolean> {
  const stored = await scope.of(Messages).all(chat.id);
  const { heard, told } = await reportsOf(scope, chat.id);
  // Transcripts stored by an earlier version of the server, or messages that a client posted.
  const others = stored.filter(
    (one) => isSpoken(one) && !isFromReport(one) && !heard.some((it) => isSame(one, it)),
  );
  const known = [...heard, ...others.map((one) => ({ ...utteranceOf(one), at: one.createdAt.getTime() }))];
  const lines = arrange(stored, wholeTranscript(known, told));
  const isUnchanged = ({ message, turn }: Line, index: number) =>
    message !== undefined &&
    message === stored[index] &&
    (turn === undefined || turn.text === message.content);
  const firstChange = lines.findIndex((line, index) => !isUnchanged(line, index));
  if (firstChange < 0 && lines.length === stored.length) return false;
  const unchanged = firstChange < 0 ? lines.length : firstChange;
  await scope.of(EventBodies).keepFrom(chat.id, unchanged + 1);
  await store(scope, chat, call, stored, lines);
  await updateDerived(scope, chat, lines);
  return true;
}

const isSpoken = ({ role, content }: Message): boolean =>
  (role === "USER" || role === "ASSISTANT") && content !== null;
const isFromReport = ({ metadata }: Message): boolean => metadata.heard === FROM_CONVERSATION.heard;
const utteranceOf = ({ role, content }: Message) => ({ role: role as Turn["role"], text: content ?? "" }); // spoken messages have no other role
const isSame = (message: Message, { role, text }: Pick<Turn, "role" | "text">): boolean =>
  message.role === role && isSpoken(message) && sameWords(message.content!, text);
const sameWords = (one: string, other: string): boolean =>
  one === other || (wordsOf(one).length > 0 && wordsOf(one).join(" ") === wordsOf(other).join(" "));

/**
 * Orders the stored messages like the turns; a message outside the transcript stays after the message that it
 * followed.
 */
function arrange(stored: readonly Message[], turns: readonly Turn[]): Line[] {
  const free = new Set(stored);
  const lines = turns.map((turn): Line => {
    const message = stored.find((one) => free.has(one) && isSame(one, turn));
    if (message) free.delete(message);
    return { turn, ...(message && { message }) };
  });
  const kept = new Set(lines.map(({ message }) => message));
  let anchor: Message | undefined;
  for (const message of stored) {
    const isObsolete = isSpoken(message) && isFromReport(message) && !kept.has(message);
    if (isObsolete) continue; // other turns contain its words now
    const before = anchor === undefined ? -1 : lines.findIndex((line) => line.message === anchor);
    if (!kept.has(message)) lines.splice(before + 1, 0, { message });
    anchor = message;
  }
  return lines;
}

async function store(
  scope: Scope,
  chat: ChatRow,
  call: CallRow,
  stored: readonly Message[],
  lines: readonly Line[],
): Promise<void> {
  const messages = () => scope.table("messages").where({ chatId: chat.id });
  const kept = new Set(lines.map(({ message }) => message));
  const gone = stored.filter((message) => !kept.has(message)).map(({ id }) => id);
  if (gone.length > 0) await messages().whereIn("id", gone).delete();
  const moved = lines.filter(({ message }, index) => message && message.sequence !== index + 1);
  const ids = moved.map(({ message }) => message!.id);
  if (ids.length > 0) await messages().whereIn("id", ids).increment("sequence", SEQUENCE_OFFSET);
  for (const [index, { message, turn }] of lines.entries()) {
    const sequence = index + 1;
    const content = turn?.text ?? message?.content;
    if (message && (message.sequence !== sequence || message.content !== content))
      await messages().where({ id: message.id }).update({ sequence, content });
  }
  const added = lines.flatMap(({ message, turn }, index) =>
    message || !turn
      ? []
      : [{ ...rowOf(chat, call, turn), sequence: index + 1, createdAt: timeAt(lines, index, chat) }],
  );
  await scope.insertAll("messages", added);
}

const rowOf = (
  { id: chatId, assistantId }: ChatRow,
  { spoken }: CallRow,
  { role, text, transcribed }: Turn,
) => ({
  id: newId(),
  chatId,
  assistantId,
  role,
  channel: "VOICE" as const,
  content: text,
  metadata: { ...(role === "ASSISTANT" && spoken), ...(!transcribed && FROM_CONVERSATION) },
});

/** Time of the nearest earlier message, else of the nearest later one. */
function timeAt(lines: readonly Line[], index: number, chat: ChatRow): Date {
  const before = lines.slice(0, index).findLast(({ message }) => message);
  const after = lines.slice(index).find(({ message }) => message);
  return (before ?? after)?.message?.createdAt ?? chat.endedAt ?? chat.startedAt;
}

/** Updates the data derived from the messages: the chat, its event, analytics facts and the end user's memory. */
async function updateDerived(scope: Scope, chat: ChatRow, lines: readonly Line[]): Promise<void> {
  const first = lines
    .map(({ message, turn }) => ({ role: turn?.role ?? message!.role, text: turn?.text ?? message!.content }))
    .find(({ role, text }) => role === "USER" && text?.trim());
  const firstWords = first ? labelFrom(first.text!) : null;
  const chatId = chat.id;
  const changes = { messageCount: lines.length, firstWords, counted: false };
  await scope.table("chats").where({ id: chatId }).update(changes);
  await measureAgain(scope, chatId);
  const now = { ...chat, ...changes };
  await scope.of(Events).transcriptCompleted(now);
  const { uniqueId } = chat;
  if (chat.status === "ended" && uniqueId !== null)
    await scope.of(EndUsers).storeContext({ ...now, uniqueId }, true);
}
