import { currentDate } from "../../platform/clock";
import type { Channel } from "../../platform/catalog/load-catalog";
import {
  checkCursors,
  connectionBy,
  countOf,
  spanOf,
  withNodes,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/lists/connection";
import { cursorOfEvent } from "../../platform/database/lists/cursors";
import type { EventName } from "../../platform/database/tables/event-names";
import { newId } from "../../platform/database/values/ids";
import { unlessReadOnly } from "../../platform/database/connections/read-only";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { payloadsOf, type StoredEvent } from "./bodies";
import { bodyOf, compose, MESSAGE_ROLES, recipeOf, type EventMessage, type Payload } from "./compose";
import { areIndexed, firstMatching, matching, type EventFilter } from "./matching";
import { record, type Cause, type NewEvent } from "./record";
import { checkPayload } from "../schemas/check-payload";
import { dataOf, type Values } from "../schemas/event-values";
import type { EventData } from "../schemas/payloads";
import { sequence } from "./sequencer";

/** An event, the same in the ledger, in webhooks and in subscriptions. */
export interface Event {
  readonly id: string;
  readonly name: EventName;
  readonly type: Channel;
  readonly companionId: string;
  readonly chatId: string | null;
  readonly payload: Payload;
  readonly createdAt: Date;
}

/** Fields of a chat that events contain. */
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

export type EventRow = Omit<Event, "companionId" | "payload"> & StoredEvent;
/** An event that contains the conversation. */
type ConversationEvent = "status-changed" | "conversation-updated";

/** Notifications sent with an event, and the change stored with it. */
interface RecordOptions {
  readonly change?: string | null;
  readonly activity?: string | null;
  readonly cause?: Cause;
}

const MESSAGES = statement<EventMessage>(({ table, $, db }) =>
  table("messages")
    .select("sequence", "role", "content")
    .where("chatId", $(1))
    .where("role", db.raw("any(?::text[])", [$(2)]))
    .orderBy("sequence", "desc"),
);

/** Records and reads the events of an organization. An event is written in the transaction of its cause. */
export class Events {
  constructor(private readonly scope: Scope) {}

  async statusChanged(chat: EventChat): Promise<void> {
    const { startedAt, endedAt, endedReason, phoneNumber } = chat;
    const status = chat.status as EventData<"status-changed">["status"]; // the check of payloads refuses any other
    const messages = await this.messages(chat.id);
    const data = { status, startedAt, endedAt, endedReason, phoneNumber };
    await this.recordConversation("status-changed", chat, messages, data, { change: chat.status });
  }

  /**
   * Records the event of a new message and stores the message, in one statement.
   * @param messages newest first
   * @param cause stores the message
   * @returns false if the message could not be stored
   */
  conversationUpdated(
    chat: EventChat,
    [newest, ...earlier]: readonly [EventMessage, ...EventMessage[]],
    cause: Cause,
  ): Promise<boolean> {
    // As PostgreSQL will return it: a half of a surrogate pair is stored as U+FFFD.
    const content = newest.content?.toWellFormed() ?? null;
    const data = { phoneNumber: chat.phoneNumber, timestamp: currentDate() };
    const options = { change: newest.role, cause };
    const messages = [{ ...newest, content }, ...earlier];
    return this.recordConversation("conversation-updated", chat, messages, data, options);
  }

  /** Records that the transcript of a call was completed after its last event. */
  async transcriptCompleted(chat: EventChat): Promise<void> {
    const messages = await this.messages(chat.id);
    const data = { phoneNumber: chat.phoneNumber, timestamp: currentDate() };
    const options = { change: "ASSISTANT" };
    await this.recordConversation("conversation-updated", chat, messages, data, options);
  }

  async functionCalled(
    chat: EventChat,
    name: string,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    await this.record("function-call", chat, { name, parameters }, { activity: name });
  }

  async sessionStarted(chat: EventChat): Promise<void> {
    const { startedAt, userId, phoneNumber } = chat;
    await this.record("session-start", chat, { startedAt, userId, phoneNumber });
  }

  async sessionEnded(chat: EventChat): Promise<void> {
    const { startedAt, messageCount } = chat;
    const [endedAt, endedReason] = [chat.endedAt!, chat.endedReason!]; // a chat that has ended has both
    await this.record("session-end", chat, { startedAt, endedAt, endedReason, messageCount });
  }

  async recordingAvailable(chat: EventChat, recordingUrl: string): Promise<void> {
    await this.record("call-recording", chat, { recordingUrl, timestamp: currentDate() });
  }

  /** Records what the assistant does now. */
  async interaction(chat: EventChat, status: EventData<"interaction-status">["status"]): Promise<void> {
    await this.record("interaction-status", chat, { status, timestamp: currentDate() }, { activity: status });
  }

  /** Events in the order of the ledger. */
  async list(query: ConnectionQuery, filter: EventFilter = {}): Promise<Connection<Event>> {
    const span = spanOf(query);
    await checkCursors(() => this.scope.table("events"), query, { kind: "tx" });
    await sequence(this.scope).catch(unlessReadOnly);
    const names = filter.name == null ? undefined : [filter.name];
    const isIndexed = await areIndexed(this.scope);
    const found = await firstMatching(this.scope, { filter, names, span }, isIndexed);
    const count = () => countOf(matching(this.scope, filter, isIndexed));
    const page = connectionBy(found, query, ({ transaction, id }) => cursorOfEvent(transaction!, id), count);
    return withNodes(page, await toEvents(this.scope, page.nodes));
  }

  /** Loads an event. Calls in the same tick share one statement. */
  byId(id: string): Promise<Event | undefined> {
    const loader = this.scope.loader<Event | undefined>("events", async (ids) => {
      const rows = await this.scope.table("events").whereIn("id", ids);
      const events = new Map((await toEvents(this.scope, rows)).map((event) => [event.id, event]));
      return ids.map((id) => events.get(id));
    });
    return loader.load(id);
  }

  /** Records an event that contains the conversation. @param messages newest first */
  private recordConversation<N extends ConversationEvent>(
    name: N,
    chat: EventChat,
    messages: readonly EventMessage[],
    data: Omit<Values<EventData<N>>, "messages">,
    options: RecordOptions,
  ): Promise<boolean> {
    const recipe = recipeOf(messages, dataOf(data));
    const envelope = { name, type: chat.channel, assistantId: chat.assistantId };
    const payload = compose(envelope, recipe, messages.toReversed());
    return this.store(name, chat, payload, recipe, options);
  }

  private record<N extends Exclude<EventName, ConversationEvent>>(
    name: N,
    chat: EventChat,
    data: Values<EventData<N>>,
    options: RecordOptions = {},
  ): Promise<boolean> {
    const { assistantId: companionId, channel: type } = chat;
    return this.store(name, chat, { event: name, type, companionId, data: dataOf(data) }, null, options);
  }

  private store(
    name: EventName,
    { id: chatId, assistantId, channel: type, deploymentId, workflowId }: EventChat,
    payload: Payload,
    recipe: NewEvent["recipe"],
    { change = null, activity = null, cause }: RecordOptions,
  ): Promise<boolean> {
    checkPayload(name, payload);
    const content = { body: bodyOf(payload), recipe };
    const event = { id: newId(), name, type, assistantId, chatId, ...content, deploymentId, workflowId };
    return record(this.scope, { change, activity, ...event }, cause);
  }

  /** Newest first. */
  private async messages(chatId: string): Promise<EventMessage[]> {
    return this.scope.read(MESSAGES, [chatId, MESSAGE_ROLES]);
  }
}

export async function toEvents(scope: Scope, rows: readonly EventRow[]): Promise<Event[]> {
  const payloads = await payloadsOf(scope, rows);
  return rows.map(
    ({ assistantId: companionId, body: _body, recipe: _recipe, digest: _digest, ...row }, index) => ({
      ...row,
      companionId,
      payload: payloads[index]!,
    }),
  );
}
