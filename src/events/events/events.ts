import { currentDate } from "../../platform/clock";
import type { Channel } from "../../platform/catalog/load-catalog";
import { connectionOf, type Connection, type ConnectionQuery } from "../../platform/database/connection";
import { newId } from "../../platform/database/ids";
import { unlessReadOnly } from "../../platform/database/read-only";
import type { Scope } from "../../platform/database/scope";
import { withoutNulls } from "../../platform/database/without-nulls";
import { record, type Cause } from "./record";
import { sequence } from "./sequencer";

export type EventName =
  | "status-changed"
  | "conversation-updated"
  | "function-call"
  | "session-start"
  | "session-end"
  | "interaction-status"
  | "call-recording";

/** One thing that happened: the same in the ledger, in webhooks and in subscriptions. */
export interface Event {
  readonly id: string;
  readonly name: EventName;
  readonly type: Channel;
  readonly companionId: string;
  readonly chatId: string | null;
  readonly payload: Record<string, unknown>;
  readonly createdAt: Date;
}

/** What events tell of a chat. */
export interface EventChat {
  readonly id: string;
  readonly assistantId: string;
  readonly channel: Channel;
  readonly status: string;
  readonly phoneNumber: string | null;
  readonly userId: string | null;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly endedReason: string | null;
  readonly messageCount: number;
  readonly workflowId: string | null;
  readonly deploymentId: string | null;
}

export interface EventFilter {
  readonly name?: string | null;
  readonly chatId?: string | null;
  readonly assistantId?: string | null;
  readonly createdAfter?: Date | null;
  readonly createdBefore?: Date | null;
}

export type EventRow = Omit<Event, "companionId" | "payload"> & {
  readonly assistantId: string;
  readonly body: string;
};
type Data = Readonly<Record<string, unknown>>;

/** What was said, as events tell it. */
export interface Words {
  readonly role: string;
  readonly content: string | null;
}

/** Who is told of an event beside its destinations, and what is done with it. */
interface Told {
  readonly change?: string | null;
  readonly activity?: string | null;
  readonly cause?: Cause;
}

/** The whole conversation stands in an event, its oldest part cut beyond this many bytes. */
const MESSAGES_BYTES = 1_048_576;
/** Stands for the assistant in a trial event. */
const TRIAL = "test";
const ROLES: Readonly<Record<string, string>> = { ASSISTANT: "bot", USER: "user" };

/** The ledger of an organization. Everything is written in the transaction of its cause. */
export class Events {
  constructor(private readonly scope: Scope) {}

  async statusChanged(chat: EventChat): Promise<void> {
    const { status, startedAt, endedAt, endedReason, phoneNumber } = chat;
    const messages = await this.messages(chat.id);
    const data = { messages, status, startedAt, endedAt, endedReason, phoneNumber };
    await this.record("status-changed", chat, data, { change: status });
  }

  /**
   * Tells of a message and stores it, at once.
   * @param said the newest first
   * @returns whether it could be stored
   */
  conversationUpdated(
    { phoneNumber, ...chat }: EventChat,
    said: readonly [Words, ...Words[]],
    cause: Cause,
  ): Promise<boolean> {
    const data = { messages: shown(said), phoneNumber, timestamp: currentDate() };
    const [{ role }] = said;
    return this.record("conversation-updated", { phoneNumber, ...chat }, data, { change: role, cause });
  }

  /** Tells that the words of a call were completed after it was told. */
  async conversationFilled(chat: EventChat): Promise<void> {
    const data = {
      messages: await this.messages(chat.id),
      phoneNumber: chat.phoneNumber,
      timestamp: currentDate(),
    };
    await this.record("conversation-updated", chat, data, { change: "ASSISTANT" });
  }

  async functionCalled(chat: EventChat, name: string, parameters: Data): Promise<void> {
    await this.record("function-call", chat, { name, parameters }, { activity: name });
  }

  async sessionStarted(chat: EventChat): Promise<void> {
    const { startedAt, userId, phoneNumber } = chat;
    await this.record("session-start", chat, { startedAt, userId, phoneNumber });
  }

  async sessionEnded(chat: EventChat): Promise<void> {
    const { startedAt, endedAt, endedReason, messageCount } = chat;
    await this.record("session-end", chat, { startedAt, endedAt, endedReason, messageCount });
  }

  async recorded(chat: EventChat, recordingUrl: string): Promise<void> {
    await this.record("call-recording", chat, { recordingUrl, timestamp: currentDate() });
  }

  /** The assistant's part in a turn: it listens, thinks or speaks now. */
  async interaction(chat: EventChat, status: "listening" | "thinking" | "speaking"): Promise<void> {
    await this.record("interaction-status", chat, { status, timestamp: currentDate() }, { activity: status });
  }

  /** An event that tells of nothing, for trying a destination out. @returns its id */
  async trial(): Promise<string> {
    const id = newId();
    const data = { status: "listening", timestamp: currentDate() };
    const event = { name: "interaction-status", type: "TEXT" } as const;
    const body = JSON.stringify({ event: event.name, type: event.type, companionId: TRIAL, data });
    await this.scope.insert("events", { id, ...event, assistantId: TRIAL, body });
    return id;
  }

  /** The stored events that a filter wants; to be narrowed and ordered further. */
  matching(filter: EventFilter) {
    const { name, chatId, assistantId, createdAfter, createdBefore } = filter;
    const rows = this.scope.table("events");
    if (name != null) rows.where("name", name);
    if (chatId != null) rows.where({ chatId });
    if (assistantId != null) rows.where({ assistantId });
    if (createdAfter != null) rows.where("createdAt", ">", createdAfter);
    if (createdBefore != null) rows.where("createdAt", "<", createdBefore);
    return rows;
  }

  /** The newest first. */
  async list(query: ConnectionQuery, filter: EventFilter = {}): Promise<Connection<Event>> {
    await sequence(this.scope).catch(unlessReadOnly);
    const take = query.first ?? 20;
    const rows = this.matching(filter).whereNotNull("transaction");
    if (query.after != null) await this.before(rows, query.after);
    const newest = ["transaction", "id"].map((column) => ({ column, order: "desc" as const }));
    const found = await rows.orderBy(newest).limit(take + 1);
    return connectionOf(found.map(toEvent), take);
  }

  /** Events by their ids, many by one statement. */
  byId(id: string): Promise<Event | undefined> {
    const loader = this.scope.loader<Event | undefined>("events", async (ids) => {
      const rows = await this.scope.table("events").whereIn("id", ids);
      return ids.map((id) => rows.filter((row) => row.id === id).map(toEvent)[0]);
    });
    return loader.load(id);
  }

  /** Narrows rows to those before an event; where it is gone meanwhile, to those whose ids are older. */
  private async before(rows: ReturnType<Events["matching"]>, id: string): Promise<void> {
    const position = this.scope.asText("transaction", "position");
    const own = this.scope.table("events").where({ id });
    const [at] = await own.select<{ position: string }[]>(position);
    if (at) void rows.whereRaw("(transaction, id) < (?::xid8, ?)", [at.position, id]);
    else void rows.where("id", "<", id);
  }

  private record(
    name: EventName,
    chat: EventChat,
    data: Data,
    { change = null, activity = null, cause }: Told = {},
  ): Promise<boolean> {
    const { id: chatId, assistantId, channel: type, deploymentId, workflowId } = chat;
    const body = JSON.stringify({ event: name, type, companionId: assistantId, data: withoutNulls(data) });
    const event = { id: newId(), name, type, assistantId, chatId, body, deploymentId, workflowId };
    return record(this.scope, { ...event, change, activity }, cause);
  }

  private async messages(chatId: string): Promise<ReturnType<typeof shown>> {
    const rows = await this.scope.named<Words>(
      "events.messages",
      (table, $, db) =>
        table("messages")
          .select("role", "content")
          .where("chatId", $(1))
          .where("role", db.raw("any(?::text[])", [$(2)]))
          .orderBy("sequence", "desc"),
      [chatId, Object.keys(ROLES)],
    );
    return shown(rows);
  }
}

/** What stands in an event of what was said, of which the newest comes first. */
function shown(said: readonly Words[]): { role: string; content?: string }[] {
  const kept: { role: string; content?: string }[] = [];
  let bytes = 0;
  for (const { role, content } of said) {
    const shownRole = ROLES[role];
    if (shownRole === undefined) continue;
    bytes += Buffer.byteLength(content ?? "") + 32;
    if (bytes > MESSAGES_BYTES && kept.length > 0) break;
    kept.push({ role: shownRole, ...(content !== null && { content }) });
  }
  return kept.reverse();
}

export const toEvent = ({ assistantId, body, ...row }: EventRow): Event => ({
  ...row,
  companionId: assistantId,
  payload: JSON.parse(body) as Record<string, unknown>,
});
