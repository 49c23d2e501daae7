import { currentTime } from "../../platform/clock";
import { connection, type Connection, type ConnectionQuery } from "../../platform/database/connection";
import { newId } from "../../platform/database/ids";
import type { Scope } from "../../platform/database/scope";
import { unprepared } from "../../platform/database/statement";
import type { DeliveryAttempt } from "../../platform/database/value-types";
import { missing } from "../../platform/errors";
import { Events, type EventFilter } from "../events/events";
import { sequence } from "../events/sequencer";
import { DELIVERIES_CHANNEL } from "../events/record";
import type { Outcome } from "../../platform/outbound/http";

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

/** Permission of this process to attempt a delivery, until another claim increments `attempt`. */
export interface Claim {
  readonly id: string;
  readonly eventId: string;
  readonly destinationId: string;
  readonly attempt: number;
  /** Recorded attempts; excludes attempts during which a server crashed. */
  readonly recordedAttempts: number;
}

/**
 * Not prepared, because backlogs differ a lot between destinations. The condition on earlier deliveries avoids
 * `not exists`: with statistics older than a backlog, PostgreSQL would join with all of it.
 */
const CLAIM = unprepared<Claim>(({ db }) =>
  db.raw(`
  update deliveries set attempt = attempt + 1, claimed_until = now() + $4 * interval '1 millisecond'
  where deliveries.organization_id = $1 and id in (
    select free.id from deliveries free
    where free.organization_id = $1 and free.destination_id = $2 and free.status = 'PENDING'
      and free.next_attempt_at <= now() and (free.claimed_until is null or free.claimed_until < now())
      and (select 1 from deliveries earlier
        where earlier.organization_id = free.organization_id and earlier.destination_id = free.destination_id
          and earlier.chat_id = free.chat_id and earlier.status = 'PENDING'
          and (earlier.chat_sequence, earlier.event_id) < (free.chat_sequence, free.event_id)
          and (earlier.attempt = 0 or (earlier.claimed_until is not null and earlier.attempts = '[]'))
        limit 1) is null
    order by free.event_id limit $3 for update of free skip locked)
  returning id, event_id, destination_id, attempt, jsonb_array_length(attempts) as recorded_attempts`),
);

/** Spec gap: seconds between attempts, ± 10 %. After the last one the delivery has failed; it can be replayed. */
export const RETRY_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
const MAX_RETRY_AFTER_SECONDS = 3_600;

/** Deliveries of events to the webhook destinations of an organization. */
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

  /** Sends the event of a delivery to the same destination again, as a new delivery. @throws DELIVERY_NOT_FOUND */
  async redeliver(id: string): Promise<Delivery> {
    return this.scope.transaction(async (scope) => {
      const [old] = await scope.table("deliveries").where({ id });
      const { eventId, destinationId } = old ?? missing("Delivery", id);
      return scope.of(Deliveries).add(eventId, destinationId);
    });
  }

  /** Adds a delivery without a chat, so it waits for no other delivery. */
  async add(eventId: string, destinationId: string): Promise<Delivery> {
    const [row] = await this.scope.insert("deliveries", {
      id: newId(),
      eventId,
      destinationId,
    });
    await this.scope.notify(DELIVERIES_CHANNEL, { destinationId });
    return row!;
  }

  /**
   * Sends up to 10,000 stored events to a destination again, in order within each chat.
   * @param dryRun only counts
   * @returns the number of events
   */
  async replay(destinationId: string, filter: EventFilter, dryRun: boolean): Promise<number> {
    await sequence(this.scope);
    return this.scope.transaction(async (scope) => {
      const matching = scope.of(Events).matching(filter).select("id", "chatId", "chatSequence");
      const events = await matching.orderBy(["transaction", "chatSequence", "id"]).limit(10_000);
      if (dryRun) return events.length;
      const rows = events.map(({ id: eventId, ...order }) => ({
        ...order,
        id: newId(),
        eventId,
        destinationId,
      }));
      await scope.insertAll("deliveries", rows);
      if (events.length > 0) await scope.notify(DELIVERIES_CHANNEL, { destinationId });
      return events.length;
    });
  }

  /**
   * Claims deliveries to attempt. An event of a chat waits until every earlier one has been attempted once; attempts during which a
   * server crashed do not count.
   * @param limit maximum number of deliveries to claim
   * @param leaseMs time until a claim that is not renewed expires
   */
  async claim(destinationId: string, limit: number, leaseMs: number): Promise<Claim[]> {
    return this.scope.write(CLAIM, [destinationId, limit, leaseMs]);
  }

  /** Extends those claims that no later one has replaced. */
  async renew(claims: readonly Claim[], leaseMs: number): Promise<void> {
    await this.scope
      .table("deliveries")
      .whereIn(
        ["id", "attempt"],
        claims.map(({ id, attempt }) => [id, attempt]),
      )
      .where({ status: "PENDING" })
      .whereNotNull("claimedUntil")
      .update({ claimedUntil: this.scope.now(leaseMs) });
  }

  /**
   * Records the outcome of an attempt unless a later claim has replaced this one.
   * @returns the new status of the delivery; undefined if the claim was replaced
   */
  async record(
    { id, attempt, recordedAttempts }: Claim,
    outcome: Outcome,
    startedAt: Date,
  ): Promise<DeliveryStatus | undefined> {
    const next = nextAttempt(recordedAttempts, outcome);
    const result: DeliveryAttempt = {
      number: attempt,
      status: outcome.kind === "answered" ? outcome.status : null,
      error: outcome.kind === "failed" ? outcome.error : null,
      answer: outcome.kind === "answered" ? firstKibibyte(outcome.body) : null,
      startedAt: startedAt.toISOString(),
      durationMs: currentTime() - startedAt.getTime(),
    };
    const changed = await this.scope
      .table("deliveries")
      .where({ id, attempt })
      // Not `= 'PENDING'`: with statistics older than a backlog, PostgreSQL reads all pending deliveries.
      .whereNotIn("status", ["DELIVERED", "FAILED"])
      .update({
        status: next.status,
        claimedUntil: null,
        attempts: this.scope.appended("attempts", result),
        ...(next.pauseMs !== undefined && { nextAttemptAt: this.scope.now(next.pauseMs) }),
        ...(next.status === "DELIVERED" && { durationMs: result.durationMs }),
      });
    return changed > 0 ? next.status : undefined;
  }

  /** Marks a claimed delivery as failed. @returns false if a later claim has replaced this one */
  async abandon({ id, attempt }: Claim): Promise<boolean> {
    const claimed = this.scope.table("deliveries").where({ id, attempt, status: "PENDING" });
    return (await claimed.update({ status: "FAILED", claimedUntil: null })) > 0;
  }

  /** Marks all pending deliveries to a destination as failed. */
  async failPending(destinationId: string): Promise<void> {
    await this.scope
      .table("deliveries")
      .where({ destinationId, status: "PENDING" })
      .update({ status: "FAILED", claimedUntil: null });
  }
}

/** The first KiB of a text, cut between characters; U+0000, which PostgreSQL cannot store, is replaced. */
const firstKibibyte = (text: string): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, 1_024), { stream: true }).replaceAll("\0", "\ufffd");

const hasSucceeded = (outcome: Outcome): boolean =>
  outcome.kind === "answered" && outcome.status >= 200 && outcome.status < 300;

/** The status of a delivery after an attempt, and the pause before the next one. */
function nextAttempt(
  recordedAttempts: number,
  outcome: Outcome,
): { status: DeliveryStatus; pauseMs?: number } {
  if (hasSucceeded(outcome)) return { status: "DELIVERED" };
  const pauseSeconds = RETRY_SECONDS[recordedAttempts];
  if (pauseSeconds === undefined) return { status: "FAILED" };
  const retryAfter = outcome.kind === "answered" ? retryAfterSeconds(outcome.headers["retry-after"]) : 0;
  const seconds = Math.max(
    pauseSeconds * (0.9 + Math.random() * 0.2),
    Math.min(retryAfter, MAX_RETRY_AFTER_SECONDS),
  );
  return { status: "PENDING", pauseMs: seconds * 1_000 };
}

/** Seconds from now of a `Retry-After` header, which has seconds or a date. */
function retryAfterSeconds(header: unknown): number {
  const text = String(header);
  return /^\d+$/.test(text) ? Number(text) : Math.max(0, Date.parse(text) - currentTime()) / 1_000 || 0;
}
