import { connection, type Connection, type ConnectionQuery } from "../database/connection";
import { newId } from "../database/ids";
import type { Scope } from "../database/scope";
import { missing } from "../errors";
import { DELIVERIES_CHANNEL, Events, type EventFilter } from "../events/events";
import type { Outcome } from "../outbound/http";

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

export interface DeliveryAttempt {
  /** From 1. */
  readonly number: number;
  readonly status: number | null;
  readonly error: string | null;
  /** The first KiB of the answer. */
  readonly answer: string | null;
  readonly startedAt: string;
  readonly durationMs: number;
}

/** A delivery that this process may try now, until another claim raises the attempt. */
export interface Claim {
  readonly id: string;
  readonly eventId: string;
  readonly destinationId: string;
  readonly attempt: number;
}

/** Spec gap: seconds from one try to the next, each 10 % more or less; then the delivery has failed and can be replayed. */
export const RETRY_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
const LONGEST_RETRY_AFTER = 3_600;
/** A claim is free again after this many milliseconds: whoever held it has died. */
const CLAIM = 90_000;

/** What is sent to the webhook destinations of an organization, and how that went. */
export class Deliveries {
  constructor(private readonly scope: Scope) {}

  async ofDestination(
    destinationId: string,
    query: ConnectionQuery,
    status?: DeliveryStatus | null,
  ): Promise<Connection<Delivery>> {
    const rows = this.scope.table("deliveries").where({ destinationId });
    return connection<Delivery>(status == null ? rows : rows.where({ status }), query);
  }

  /** Sends an event once more to the same destination, beside what was tried. @throws DELIVERY_NOT_FOUND */
  async redeliver(id: string): Promise<Delivery> {
    return this.scope.transaction(async (scope) => {
      const [old] = (await scope.table("deliveries").where({ id })) as (Delivery & {
        chatId: string | null;
      })[];
      const { eventId, destinationId } = old ?? missing("Delivery");
      return scope.of(Deliveries).add(eventId, destinationId);
    });
  }

  /** Adds a delivery. Without a chat it waits for no other. */
  async add(eventId: string, destinationId: string): Promise<Delivery> {
    const [row] = (await this.scope.insert("deliveries", {
      id: newId(),
      eventId,
      destinationId,
    })) as Delivery[];
    await this.scope.notify(DELIVERIES_CHANNEL, { destinationId });
    return row!;
  }

  /**
   * Sends stored events again to a destination, in order within each chat.
   * @returns how many; with `dryRun` nothing is sent
   */
  async replay(destinationId: string, filter: EventFilter, dryRun: boolean): Promise<number> {
    return this.scope.transaction(async (scope) => {
      const wanted = scope.of(Events).matching(filter).select("id", "chatId").orderBy("id").limit(10_000);
      const events = (await wanted) as { id: string; chatId: string | null }[];
      if (dryRun) return events.length;
      for (const { id: eventId, chatId } of events)
        await scope.insert("deliveries", { id: newId(), eventId, destinationId, chatId });
      if (events.length > 0) await scope.notify(DELIVERIES_CHANNEL, { destinationId });
      return events.length;
    });
  }

  /** Takes up to `most` deliveries to try. The next event of a chat waits while an earlier one is on its first try. */
  async claim(destinationId: string, most: number): Promise<Claim[]> {
    const now = new Date();
    const free = this.scope
      .table("deliveries")
      .select("id")
      .where({ destinationId, status: "PENDING" })
      .where("nextAttemptAt", "<=", now)
      .where((either) => either.whereNull("claimedUntil").orWhere("claimedUntil", "<", now))
      .whereRaw(
        `not exists (select 1 from deliveries earlier
          where earlier.organization_id = deliveries.organization_id and earlier.destination_id = deliveries.destination_id
            and earlier.chat_id = deliveries.chat_id and earlier.event_id < deliveries.event_id and earlier.status = 'PENDING'
            and (earlier.attempt = 0 or (earlier.attempt = 1 and earlier.claimed_until is not null)))`,
      )
      .orderBy("eventId")
      .limit(most)
      .forUpdate()
      .skipLocked();
    const rows = await this.scope
      .table("deliveries")
      .whereIn("id", free)
      .increment("attempt", 1)
      .update({ claimedUntil: new Date(now.getTime() + CLAIM) })
      .returning(["id", "eventId", "destinationId", "attempt"]);
    return rows as Claim[];
  }

  /**
   * Notes how a try went, unless a later claim has been made since.
   * @returns what became of the delivery; undefined when the claim was no longer the newest
   */
  async record(
    { id, attempt }: Claim,
    outcome: Outcome,
    startedAt: Date,
  ): Promise<DeliveryStatus | undefined> {
    const next = nextTry(attempt, outcome);
    const tried: DeliveryAttempt = {
      number: attempt,
      status: outcome.kind === "answered" ? outcome.status : null,
      error: outcome.kind === "failed" ? outcome.error : null,
      answer:
        outcome.kind === "answered"
          ? outcome.body.replaceAll("\0", "\ufffd").slice(0, 1_024).toWellFormed()
          : null,
      startedAt: startedAt.toISOString(),
      durationMs: Date.now() - startedAt.getTime(),
    };
    const changed = await this.scope
      .table("deliveries")
      .where({ id, attempt, status: "PENDING" })
      .update({
        status: next.status,
        claimedUntil: null,
        attempts: this.scope.appended("attempts", tried),
        ...(next.at && { nextAttemptAt: next.at }),
      });
    return changed > 0 ? next.status : undefined;
  }

  /** Gives up what still waits for a destination. */
  async giveUp(destinationId: string): Promise<void> {
    await this.scope
      .table("deliveries")
      .where({ destinationId, status: "PENDING" })
      .update({ status: "FAILED", claimedUntil: null });
  }
}

const succeeded = (outcome: Outcome): boolean =>
  outcome.kind === "answered" && outcome.status >= 200 && outcome.status < 300;

function nextTry(attempt: number, outcome: Outcome): { status: DeliveryStatus; at?: Date } {
  if (succeeded(outcome)) return { status: "DELIVERED" };
  const pause = RETRY_SECONDS[attempt - 1];
  if (pause === undefined) return { status: "FAILED" };
  const asked = outcome.kind === "answered" ? Number(outcome.headers["retry-after"]) : NaN;
  const seconds = Math.max(pause * (0.9 + Math.random() * 0.2), Math.min(asked || 0, LONGEST_RETRY_AFTER));
  return { status: "PENDING", at: new Date(Date.now() + seconds * 1_000) };
}
