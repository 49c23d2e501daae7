import { currentTime } from "../../platform/clock";
import { connection, type Connection, type ConnectionQuery } from "../../platform/database/connection";
import { newId } from "../../platform/database/ids";
import type { Scope } from "../../platform/database/scope";
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
  /** Tries whose end is known; one that a server died in isn't among them. */
  readonly tries: number;
}

/** Spec gap: seconds from one try to the next, each 10 % more or less; then the delivery has failed and can be replayed. */
export const RETRY_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
const LONGEST_RETRY_AFTER = 3_600;

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
      const [old] = await scope.table("deliveries").where({ id });
      const { eventId, destinationId } = old ?? missing("Delivery");
      return scope.of(Deliveries).add(eventId, destinationId);
    });
  }

  /** Adds a delivery. Without a chat it waits for no other. */
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
   * Sends stored events again to a destination, in order within each chat.
   * @returns how many; with `dryRun` nothing is sent
   */
  async replay(destinationId: string, filter: EventFilter, dryRun: boolean): Promise<number> {
    await sequence(this.scope);
    return this.scope.transaction(async (scope) => {
      const wanted = scope.of(Events).matching(filter).select("id", "chatId", "chatSequence");
      const events = await wanted.orderBy(["transaction", "chatSequence", "id"]).limit(10_000);
      if (dryRun) return events.length;
      const rows = events.map(({ id: eventId, ...place }) => ({
        ...place,
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
   * Takes up to `most` deliveries to try. The next event of a chat waits while an earlier one is on its first try; one
   * that a server died in doesn't count.
   * @param lease after how many milliseconds a claim that isn't renewed is free again
   */
  async claim(destinationId: string, most: number, lease: number): Promise<Claim[]> {
    const now = this.scope.now();
    const free = this.scope
      .table("deliveries")
      .select("id")
      .where({ destinationId, status: "PENDING" })
      .where("nextAttemptAt", "<=", now)
      .where((either) => either.whereNull("claimedUntil").orWhere("claimedUntil", "<", now))
      .whereRaw(
        // Not `not exists`: while statistics are older than a backlog, that is planned as a join that reads all of it.
        `(select 1 from deliveries earlier
          where earlier.organization_id = deliveries.organization_id and earlier.destination_id = deliveries.destination_id
            and earlier.chat_id = deliveries.chat_id and earlier.status = 'PENDING'
            and (earlier.chat_sequence, earlier.event_id) < (deliveries.chat_sequence, deliveries.event_id)
            and (earlier.attempt = 0 or (earlier.claimed_until is not null and earlier.attempts = '[]'))
          limit 1) is null`,
      )
      .orderBy("eventId")
      .limit(most)
      .forUpdate()
      .skipLocked();
    const rows = await this.scope
      .table("deliveries")
      .whereIn("id", free)
      .increment("attempt", 1)
      .update({ claimedUntil: this.scope.now(lease) })
      .returning(["id", "eventId", "destinationId", "attempt", this.scope.lengthOf("attempts", "tries")]);
    return rows as Claim[];
  }

  /** Keeps claims that are still the newest for another `lease` milliseconds. */
  async renew(claims: readonly Claim[], lease: number): Promise<void> {
    await this.scope
      .table("deliveries")
      .whereIn(
        ["id", "attempt"],
        claims.map(({ id, attempt }) => [id, attempt]),
      )
      .where({ status: "PENDING" })
      .whereNotNull("claimedUntil")
      .update({ claimedUntil: this.scope.now(lease) });
  }

  /**
   * Notes how a try went, unless a later claim has been made since.
   * @returns what became of the delivery; undefined when the claim was no longer the newest
   */
  async record(
    { id, attempt, tries }: Claim,
    outcome: Outcome,
    startedAt: Date,
  ): Promise<DeliveryStatus | undefined> {
    const next = nextTry(tries, outcome);
    const tried: DeliveryAttempt = {
      number: attempt,
      status: outcome.kind === "answered" ? outcome.status : null,
      error: outcome.kind === "failed" ? outcome.error : null,
      answer: outcome.kind === "answered" ? beginning(outcome.body) : null,
      startedAt: startedAt.toISOString(),
      durationMs: currentTime() - startedAt.getTime(),
    };
    const changed = await this.scope
      .table("deliveries")
      .where({ id, attempt })
      // Not `= 'PENDING'`: while statistics are older than a backlog, the index of all that is pending is read for one id.
      .whereNotIn("status", ["DELIVERED", "FAILED"])
      .update({
        status: next.status,
        claimedUntil: null,
        attempts: this.scope.appended("attempts", tried),
        ...(next.pause !== undefined && { nextAttemptAt: this.scope.now(next.pause) }),
        ...(next.status === "DELIVERED" && { durationMs: tried.durationMs }),
      });
    return changed > 0 ? next.status : undefined;
  }

  /** Gives up a claimed delivery. @returns whether the claim was still the newest */
  async abandon({ id, attempt }: Claim): Promise<boolean> {
    const claimed = this.scope.table("deliveries").where({ id, attempt, status: "PENDING" });
    return (await claimed.update({ status: "FAILED", claimedUntil: null })) > 0;
  }

  /** Gives up what still waits for a destination. */
  async giveUp(destinationId: string): Promise<void> {
    await this.scope
      .table("deliveries")
      .where({ destinationId, status: "PENDING" })
      .update({ status: "FAILED", claimedUntil: null });
  }
}

/** The first KiB, without half a character at its end, as PostgreSQL can store it. */
const beginning = (text: string): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, 1_024), { stream: true }).replaceAll("\0", "\ufffd");

const succeeded = (outcome: Outcome): boolean =>
  outcome.kind === "answered" && outcome.status >= 200 && outcome.status < 300;

/** @returns what becomes of the delivery, and after how many milliseconds it is tried again */
function nextTry(tries: number, outcome: Outcome): { status: DeliveryStatus; pause?: number } {
  if (succeeded(outcome)) return { status: "DELIVERED" };
  const pause = RETRY_SECONDS[tries];
  if (pause === undefined) return { status: "FAILED" };
  const asked = outcome.kind === "answered" ? secondsIn(outcome.headers["retry-after"]) : 0;
  const seconds = Math.max(pause * (0.9 + Math.random() * 0.2), Math.min(asked, LONGEST_RETRY_AFTER));
  return { status: "PENDING", pause: seconds * 1_000 };
}

/** What a `Retry-After` asks for, in seconds or as a date. */
function secondsIn(header: unknown): number {
  const text = String(header);
  return /^\d+$/.test(text) ? Number(text) : Math.max(0, Date.parse(text) - currentTime()) / 1_000 || 0;
}
