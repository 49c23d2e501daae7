import {
  checkCursors,
  connectionBy,
  spanOf,
  type Connection,
  type ConnectionQuery,
  type Span,
} from "../../platform/database/lists/connection";
import { DEFAULT_EVENTS, type EventName } from "../../platform/database/tables/event-names";
import { countPerId, perId, readCounts, readPerId } from "../../platform/database/lists/per-id";
import type { Conditions } from "../../platform/database/lists/filtered-statement";
import { cursorById, idIn } from "../../platform/database/lists/cursors";
import { BOUNDS, inBothOrders } from "../../platform/database/lists/order";
import { newId } from "../../platform/database/values/ids";
import { rowById } from "../../platform/database/lists/row-by-id";
import type { Scope } from "../../platform/database/scope";
import type { DeliveryAttempt } from "../../platform/database/tables/value-types";
import { DomainError, missing } from "../../platform/errors";
import { areIndexed, firstMatching, type EventFilter } from "../events/matching";
import { sequence } from "../events/sequencer";
import { foundRow } from "./destination-rows";
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

/** Events that one replay sends, at most: one more than the entries of this span, as for the pages of lists. */
const FIRST_EVENTS: Span = { take: 9_999, order: "asc", after: null, before: null };

/** Pending deliveries of a disabled destination that one statement marks as failed. */
const FAILED_AT_ONCE = 1_000;

/**
 * Conditions on the status. `unmade` takes any but DELIVERED and says so, because a plan for all values uses the index of
 * such deliveries only then.
 */
const STATUS: Conditions<"status" | "unmade"> = {
  status: (rows, value) => rows.where({ status: value }),
  unmade: (rows, value) => rows.where({ status: value }).whereRaw("status <> 'DELIVERED'"),
};
const byStatus = (status: DeliveryStatus | null | undefined) =>
  status == null || status === "DELIVERED" ? { status } : { unmade: status };

const OF_DESTINATIONS = inBothOrders((order) =>
  perId(
    ({ table, narrowed }) =>
      narrowed(table("deliveries").whereRaw("destination_id = wanted.id")).orderBy("id", order),
    {
      conditions: {
        ...STATUS,
        after: (rows, value) => rows.where("id", BOUNDS[order].after, value),
        before: (rows, value) => rows.where("id", BOUNDS[order].before, value),
      },
    },
  ),
);
const COUNT = countPerId("destinationId", ({ table }) => table("deliveries"), STATUS);

/** Deliveries of events to the webhook destinations of an organization. */
export class Deliveries {
  constructor(private readonly scope: Scope) {}

  /** Deliveries by their ids. Calls in the same tick with equal queries share one statement. */
  async ofDestination(
    destinationId: string,
    query: ConnectionQuery,
    status?: DeliveryStatus | null,
  ): Promise<Connection<Delivery>> {
    const { take, order, after, before } = spanOf(query);
    await checkCursors(() => this.scope.table("deliveries").where({ destinationId }), query, { kind: "id" });
    const filter = { ...byStatus(status), after: after && idIn(after), before: before && idIn(before) };
    const { scope } = this;
    const page = scope.loader<Delivery[]>(`deliveries.${JSON.stringify([take, order, filter])}`, (ids) =>
      readPerId(scope, OF_DESTINATIONS[order], ids, { take: take + 1 }, filter),
    );
    const found = await page.load(destinationId);
    return connectionBy(
      found,
      query,
      ({ id }) => cursorById(id),
      () =>
        scope
          .loader<number>(`deliveries.count.${status}`, (ids) =>
            readCounts(scope, COUNT, ids, byStatus(status)),
          )
          .load(destinationId),
    );
  }

  /** The newest pending deliveries to each of these destinations, newest first. */
  newestPending(destinationIds: readonly string[], take: number): Promise<Delivery[][]> {
    return readPerId(this.scope, OF_DESTINATIONS.desc, destinationIds, { take }, byStatus("PENDING"));
  }

  /** Calls in the same tick share one statement. @throws DELIVERY_NOT_FOUND */
  async byId(id: string): Promise<Delivery> {
    const row = await rowById(this.scope, "deliveries", id);
    // A job removes the deliveries of a deleted destination.
    return row && (await foundRow(this.scope, row.destinationId)) ? row : missing("Delivery", id);
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
   * Adds a delivery without a chat, so it waits for no other delivery. Runs in a transaction.
   * @throws WEBHOOK_DESTINATION_DISABLED, WEBHOOK_DESTINATION_NOT_FOUND
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
    return this.scope.transaction((scope) =>
      scope.of(Deliveries).replayPlaced(destinationId, filter, dryRun),
    );
  }

  /** Replays events that have a position, in a transaction. */
  private async replayPlaced(destinationId: string, filter: EventFilter, dryRun: boolean): Promise<number> {
    const { scope } = this;
    const names = filter.name == null ? await this.chosen(destinationId) : [filter.name];
    const wanted = { filter, names, span: FIRST_EVENTS };
    const found = firstMatching(scope, wanted, await areIndexed(scope));
    if (!dryRun) found.forKeyShare(); // events that are deleted meanwhile are not sent
    const events = await found.clearOrder().orderBy(["transaction", "chatSequence", "id"]);
    if (events.length === 0) await this.checkExists(filter);
    if (dryRun) return events.length;
    await this.checkEnabled(destinationId);
    const rows = events.map(({ id: eventId, chatId, chatSequence }) => ({
      id: newId(),
      eventId,
      destinationId,
      chatId,
      chatSequence,
    }));
    await scope.insertAll("deliveries", rows);
    const chats = new Set(rows.flatMap(({ chatId }) => chatId ?? []));
    const alone = rows.filter(({ chatId }) => chatId === null).map(({ id }) => id);
    await scope.of(DeliveryQueues).add(destinationId, [...chats], alone);
    return events.length;
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

  /** Not by `status: "PENDING"`: see `IS_PENDING`. */
  private begun(id: string, attempt: number) {
    return this.scope
      .table("deliveries")
      .where({ id, attempt })
      .whereNotIn("status", ["DELIVERED", "FAILED"]);
  }

  /** Keeps the destination from being deleted until the transaction ends. */
  private async checkEnabled(id: string): Promise<void> {
    const [row] = await this.scope
      .table("webhook_destinations")
      .where({ id })
      .select("enabled")
      .forKeyShare();
    const { enabled } = row ?? missing("WebhookDestination", id);
    if (!enabled)
      throw new DomainError(
        "WEBHOOK_DESTINATION_DISABLED",
        `The webhook destination ${id} is disabled, so nothing is sent to it. Enable it with updateWebhookDestination or PATCH /rest/v1/settings/${id}.`,
      );
  }

  /** Whether a delivery that this process has begun is still there, and no later claim has replaced this one. */
  async isBegun({ id, attempt }: Pick<BegunDelivery, "id" | "attempt">): Promise<boolean> {
    return (await this.begun(id, attempt).select("id")).length > 0;
  }

  /** Marks a begun delivery as failed. @returns false if a later claim has replaced this one */
  async abandon({ id, attempt }: Pick<BegunDelivery, "id" | "attempt">): Promise<boolean> {
    return (await this.begun(id, attempt).update({ status: "FAILED", claimedUntil: null })) > 0;
  }

  /**
   * Marks all pending deliveries to a destination as failed, but not those in flight: they record their result. What it
   * does not reach, as when the server ends, fails when it is due.
   */
  async failPending(destinationId: string): Promise<void> {
    for (let failed = FAILED_AT_ONCE; failed === FAILED_AT_ONCE;) {
      const some = this.scope
        .table("deliveries")
        .select("id")
        .where({ destinationId, status: "PENDING" })
        .whereRaw("(claimed_until is null or claimed_until < now())")
        .limit(FAILED_AT_ONCE)
        .forUpdate()
        .skipLocked();
      failed = await this.scope
        .table("deliveries")
        .whereIn("id", some)
        .update({ status: "FAILED", claimedUntil: null });
    }
  }
}
