import { newId } from "../../platform/database/values/ids";
import { timeOf } from "../../platform/database/lists/order";
import type { Scope } from "../../platform/database/scope";
import { missing } from "../../platform/errors";
import type { Chat } from "./chats";
import type { Message } from "./messages";

/** Position in the events of a chat: sequence of the last sent message, and id of the last sent status change. */
export interface StreamPosition {
  readonly sequence: number;
  readonly statusEventId: string;
}

/** Start of a stream: its position, and the id of the stored event before it. */
export interface StreamStart {
  readonly position: StreamPosition;
  readonly lastId: string;
}

/** Separates the id of a stored event from the rest in the ids of the events after it that are not stored. */
const SEPARATOR = "~";

/** Names the beginning of any chat. */
const BEGINNING = "0";

/** Marks the ids of events after which the reader has a part of an unfinished answer. */
const PART = `${SEPARATOR}part-`;

/**
 * Id of an event that is not stored. It begins with the id of the stored event before it, where a stream resumes: the
 * message that an answer becomes has an older id than the parts of the answer.
 */
export const transientId = (lastId: string, isAnswerShown: boolean): string =>
  `${lastId}${isAnswerShown ? PART : SEPARATOR}${newId()}`;

/** Whether a reader that has received the event with this id has a part of an unfinished answer. */
export const endsInAnswer = (id: string): boolean => id.includes(PART);

/** The start of a stream after the event `after`; without an id, at the present end. @throws EVENT_NOT_FOUND */
export async function startOf(
  scope: Scope,
  chat: Chat,
  after: string | null | undefined,
): Promise<StreamStart> {
  const { messageCount, status, statusEventId } = chat;
  const ended = status === "ended";
  const present = { sequence: messageCount, statusEventId };
  if (after == null) return { position: present, lastId: await lastIdOf(scope, chat) };
  // No event follows the end.
  if (ended && after === statusEventId) return { position: present, lastId: after };
  const { sequence, seen, id } = await positionAfter(scope, chat, after);
  return { position: { sequence, statusEventId: !ended && seen ? statusEventId : "" }, lastId: id };
}

/** Sequence of the last message up to the event `after`. @throws EVENT_NOT_FOUND */
export async function sequenceAfter(scope: Scope, chat: Chat, after: string): Promise<number> {
  return (await positionAfter(scope, chat, after)).sequence;
}

/** Sequence of the last message up to a stored event, even a removed one; undefined if the chat has never had it. */
export async function sequenceUpTo(scope: Scope, chat: Chat, id: string): Promise<number | undefined> {
  return (await positionOfStored(scope, chat, id))?.sequence;
}

/** Whether a message was stored before the last status change. */
export function comesBefore(
  { sequence, id }: Pick<Message, "sequence" | "id">,
  { statusPlaces, statusEventId }: Pick<Chat, "statusPlaces" | "statusEventId">,
): boolean {
  const changedAfter = statusPlaces[statusEventId];
  return changedAfter === undefined ? id < statusEventId : sequence <= changedAfter;
}

/** Id of the last stored event of a chat. */
async function lastIdOf(scope: Scope, chat: Chat): Promise<string> {
  const { id: chatId, messageCount: sequence, statusEventId } = chat;
  const [last] = await scope.table("messages").select("id").where({ chatId, sequence });
  return last && !comesBefore({ ...last, sequence }, chat) ? last.id : statusEventId;
}

interface EventPosition {
  /** Id of the stored event. */
  readonly id: string;
  /** Number of messages up to the event. */
  readonly sequence: number;
  /** Whether the present status comes before or with the event. */
  readonly seen: boolean;
}

/** Position of an event, stored or not; of the beginning for the id of the chat itself. @throws EVENT_NOT_FOUND */
async function positionAfter(scope: Scope, chat: Chat, after: string): Promise<EventPosition> {
  const end = after.lastIndexOf(SEPARATOR);
  return (
    (await positionOfStored(scope, chat, after)) ??
    (end < 0 ? undefined : await positionOfStored(scope, chat, after.slice(0, end))) ??
    missing("Event", after)
  );
}

async function positionOfStored(scope: Scope, chat: Chat, id: string): Promise<EventPosition | undefined> {
  if (id === chat.id || id === BEGINNING) return { id, sequence: 0, seen: false };
  const { id: chatId, statusPlaces, statusEventId } = chat;
  const messages = () => scope.table("messages").where({ chatId });
  const [message] = await messages().select("sequence").where({ id });
  if (message) return { ...message, id, seen: !comesBefore({ ...message, id }, chat) };
  const sequence = Object.hasOwn(statusPlaces, id) ? statusPlaces[id] : undefined;
  if (sequence !== undefined) return { id, sequence, seen: id === statusEventId };
  if (!(await wasStored(scope, chat, id))) return undefined;
  // The id sorts among those of messages, as far as the servers' clocks agree.
  const [last] = await messages()
    .where("id", "<=", id)
    .max<{ sequence: number | null }[]>("sequence as sequence");
  return { id, sequence: last?.sequence ?? 0, seen: statusEventId <= id };
}

/**
 * Whether an id without a place is that of another event of the chat (such as a status change by a server of an older
 * version), or may be that of a message that the whole transcript of a call has replaced.
 */
async function wasStored(scope: Scope, { id: chatId, channel, statusEventId }: Chat, id: string) {
  if (id === statusEventId) return true;
  if ((await scope.table("events").select("id").where({ id, chatId })).length > 0) return true;
  if (channel !== "VOICE" || (await scope.table("messages").select("id").where({ id })).length > 0)
    return false;
  const duringCall = scope
    .table("chats")
    .select("id")
    .where({ id: chatId })
    .whereRaw(
      `to_timestamp(?) between started_at - interval '${SKEW}' and coalesce(ended_at, now()) + interval '${SKEW}'`,
      [Date.parse(timeOf(id)) / 1_000],
    );
  return (await duringCall).length > 0;
}

/** How far the clocks of servers may differ from that of the database, as an interval of PostgreSQL. */
const SKEW = "1 minute";
