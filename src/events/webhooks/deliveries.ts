import {
  checkCursor,
  connectionOf,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/connection";
import { DEFAULT_EVENTS, type EventName } from "../../platform/database/event-names";
import { perId, readPerId } from "../../platform/database/per-id";
import { newId } from "../../platform/database/ids";
import { rowById } from "../../platform/database/row-by-id";
import type { Scope } from "../../platform/database/scope";
import type { DeliveryAttempt } from "../../platform/database/value-types";
import { DomainError, missing } from "../../platform/errors";
import { Events, type EventFilter } from "../events/events";
import { sequence } from "../events/sequencer";
import { DeliveryQueues, type BegunDelivery } from "./queues";

export type DeliveryStatus = "PENDING" | "DELIVERED" | "FAILED";

export interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly destinationId: string;
  readonly status: DeliveryStatus;
  readonly nextAttemptAt: Date;
  readonly attempts: readonly DeliveryAttempt[];
  readonly createdAt: Date;
}

const OF_DESTINATIONS = perId(
  ({ table, narrowed }) =>
    narrowed(table("deliveries").whereRaw("destination_id = wanted.id")).orderBy("id", "desc"),
  {
    conditions: {
      status: (rows, value) => rows.where({ status: value }),
      after: (rows, value) => rows.where("id", "<", value),
    },
  },
);

/** Deliveries of events to the webhook destinations of an organization. */
export class Deliveries {
  constructor(private readonly scope: Scope) {}

  /** Newest first. Calls in the same tick with equal queries share one statement. */
  async ofDestination(
    destinationId: string,
    query: ConnectionQuery,
    status?: DeliveryStatus | null,
  ): Promise<Connection<Delivery>> {
    const { after } = query;
    await checkCursor(() => this.scope.table("deliveries").where({ destinationId }), after);
    const take = query.first ?? 20;
    const filter = { status, after };
    const loader = this.scope.loader<Delivery[]>(`deliveries.${take}.${JSON.stringify(filter)}`, (ids) =>
      readPerId(this.scope, OF_DESTINATIONS, ids, { take: take + 1 }, filter),
    );
    return connectionOf(await loader.load(destinationId), query);
  }

  /** Calls in the same tick share one statement. @throws DELIVERY_NOT_FOUND */
  async byId(id: string): Promise<Delivery> {
    return (await rowById(this.scope, "deliveries", id)) ?? missing("Delivery", id);
  }

  /**
   * Sends the event of a delivery to the same destination again, as a new delivery.
   * @throws DELIVERY_NOT_FOUND, WEBHOOK_DESTINATION_DISABLED
   */
  async redeliver(id: string): Promise<Delivery> {
    return this.scope.transaction(async (scope) => {
      const { eventId, destinationId } = await scope.of(Deliveries).byId(id);
      return scope.of(Deliveries).add(eventId, destinationId);
    });
  }

  /**
   * Adds a delivery without a chat, so it waits for no other delivery.
   * @throws WEBHOOK_DESTINATION_DISABLED
   */
  async add(eventId: string, destinationId: string): Promise<Delivery> {
    await this.checkEnabled(destinationId);
    const [row] = await this.scope.insert("deliveries", {
      id: newId(),
      eventId,
      destinationId,
    });
    await this.scope.of(DeliveryQueues).add(destinationId, [], [row!.id]);
    return row!;
  }

  /**
   * Sends up to 10,000 stored events to a destination again, in order within each chat: those that it has chosen, or those
   * of the name in the filter.
   * @param dryRun only counts
   * @returns the number of events
   * @throws WEBHOOK_DESTINATION_DISABLED unless it only counts; CHAT_NOT_FOUND, ASSISTANT_NOT_FOUND
   */
  async replay(destinationId: string, filter: EventFilter, dryRun: boolean): Promise<number> {
    await sequence(this.scope);
    return this.scope.transaction(async (scope) => {
      const matching = scope.of(Events).matching(filter);
      if (filter.name == null) matching.whereIn("name", await scope.of(Deliveries).chosen(destinationId));
      const found = matching.select("id", "chatId", "chatSequence");
      const events = await found.orderBy(["transaction", "chatSequence", "id"]).limit(10_000);
      if (events.length === 0) await scope.of(Deliveries).checkExists(filter);
      if (dryRun) return events.length;
      await scope.of(Deliveries).checkEnabled(destinationId);
      const rows = events.map(({ id: eventId, ...order }) => ({
        ...order,
        id: newId(),
        eventId,
        destinationId,
      }));
      await scope.insertAll("deliveries", rows);
      const chats = new Set(rows.flatMap(({ chatId }) => chatId ?? []));
      const alone = rows.filter(({ chatId }) => chatId === null).map(({ id }) => id);
      await scope.of(DeliveryQueues).add(destinationId, [...chats], alone);
      return events.length;
    });
  }

  private async chosen(id: string): Promise<readonly EventName[]> {
    const [row] = await this.scope.table("webhook_destinations").where({ id }).select("events");
    return row?.events ?? DEFAULT_EVENTS;
  }

  /** Checks the records of a filter that finds nothing: events may outlive them. @throws CHAT_NOT_FOUND, ASSISTANT_NOT_FOUND */
  private async checkExists({ chatId, assistantId }: EventFilter): Promise<void> {
    const find = (table: "chats" | "assistants", id: string) =>
      this.scope.table(table).where({ id }).select("id");
    if (chatId != null && (await find("chats", chatId)).length === 0) missing("Chat", chatId);
    if (assistantId != null && (await find("assistants", assistantId)).length === 0)
      missing("Assistant", assistantId);
  }

  private async checkEnabled(id: string): Promise<void> {
    const [disabled] = await this.scope.table("webhook_destinations").where({ id, enabled: false });
    if (disabled)
      throw new DomainError(
        "WEBHOOK_DESTINATION_DISABLED",
        `The webhook destination ${id} is disabled, so nothing is sent to it. Enable it with updateWebhookDestination or PATCH /rest/v1/settings/${id}.`,
      );
  }

  /** Marks a begun delivery as failed. @returns false if a later claim has replaced this one */
  async abandon({ id, attempt }: Pick<BegunDelivery, "id" | "attempt">): Promise<boolean> {
    const claimed = this.scope.table("deliveries").where({ id, attempt, status: "PENDING" });
    return (await claimed.update({ status: "FAILED", claimedUntil: null })) > 0;
  }

  /** Marks all pending deliveries to a destination as failed, but not those in flight: they record their result. */
  async failPending(destinationId: string): Promise<void> {
    await this.scope
      .table("deliveries")
      .where({ destinationId, status: "PENDING" })
      .whereRaw("(claimed_until is null or claimed_until < now())")
      .update({ status: "FAILED", claimedUntil: null });
  }
}
