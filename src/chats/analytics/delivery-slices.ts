import { TIME_BUCKET, TIMES } from "../../events/events/delivery-sums";
import { FilteredStatement, type Conditions } from "../../platform/database/lists/filtered-statement";
import { replicated } from "../../platform/database/lists/replicated";
import type { Scope } from "../../platform/database/scope";
import { spansWithinDays } from "./day-spans";
import type { Period } from "./period";
import { boundsOf, slotsAndEdges } from "./spans";

/** Counts of the deliveries of one day. */
export interface DeliverySlice {
  readonly day: string;
  readonly delivered: number;
  readonly failed: number;
  readonly pending: number;
  /** Tried more than once, whatever their status. */
  readonly retried: number;
  /** Numbers of made deliveries by bucket of the time to the answer. */
  readonly times: readonly number[];
}

const CONDITIONS: Conditions<"projectId"> = {
  projectId: (rows, value, { table }) =>
    rows.whereIn("destinationId", table("webhook_destinations").select("id").where({ projectId: value })),
};

const COUNTS = ["delivered", "failed", "pending", "retried"];
const sum = (name: string) => `coalesce(sum(${name}), 0)::float8`;
const dayOf = (time: string) => `(${time} at time zone $2)::date as day`;
const countIf = (condition: string) => `case when ${condition} then count else 0 end`;

/** SQL: the columns of a group of deliveries, in the order of those of the sums. */
const OF_GROUP = [
  ...["DELIVERED", "FAILED", "PENDING"].map((status) => countIf(`status = '${status}'`)),
  countIf("retried"),
  ...TIMES.map((_, bucket) => countIf(`bucket = ${bucket}`)),
];

/**
 * Adds up the sums of whole quarters of an hour, and counts one by one the deliveries of edges, which are parts of
 * quarters, of gaps in the sums, and of quarters that are in no sum yet. One statement sees one moment. Parameters: time
 * zone, starts and ends of the whole quarters, and of the edges. Not prepared, because a day and a year need different
 * plans; `offset 0` makes PostgreSQL plan the rows of one span.
 */
const SLICES = new FilteredStatement<DeliverySlice, "projectId">(
  CONDITIONS,
  ({ table, $, db, narrowed }) => {
    const head = table("delivery_sum_heads").select("until");
    const gaps = table("delivery_sum_gaps").whereRaw("starts_at >= whole.since and starts_at < whole.until");
    const sums = narrowed(
      table("delivery_sums").whereRaw("starts_at >= whole.since and starts_at < whole.until"),
    );
    // Not those of deleted destinations, which a job removes.
    const deliveries = narrowed(
      table("deliveries")
        .whereIn("destinationId", table("webhook_destinations").select("id"))
        .whereRaw("created_at >= uncounted.since and created_at < uncounted.until"),
    );
    return db.raw(
      `with whole as (
        select since, until, coalesce((?), '-infinity') as counted_until from unnest(?::timestamptz[], ?::timestamptz[]) span (since, until)
      ), uncounted as (
        select since, until from unnest(?::timestamptz[], ?::timestamptz[]) span (since, until)
        union all select greatest(since, counted_until), until from whole where until > counted_until
        union all select starts_at, starts_at + interval '15 minutes' from whole cross join lateral (? offset 0) gap
      ), groups as (
        select ${dayOf("created_at")}, status, attempt > 1 as retried, ${TIME_BUCKET} as bucket, count(*) as count
        from uncounted cross join lateral (? offset 0) delivery group by 1, 2, 3, 4
      ), parts as (
        select ${dayOf("starts_at")}, delivered, failed, 0 as pending, retried, ${TIMES.join(", ")}
        from whole cross join lateral (? offset 0) counted
        union all select day, ${OF_GROUP.join(", ")} from groups
      )
      select day::text, ${COUNTS.map((name) => `${sum(name)} as ${name}`).join(", ")}, array[${TIMES.map(sum).join(", ")}] as times
      from parts group by 1`,
      [
        ...[head, $(2), $(3), $(4), $(5)],
        gaps.select("startsAt"),
        deliveries.select("createdAt", "status", "attempt", "durationMs"),
        sums.select(db.raw(`starts_at, delivered, failed, retried, ${TIMES.join(", ")}`)),
      ],
    );
  },
  false,
);

/** Reads counts of deliveries by day, of the organization or a project. */
export async function deliverySlices(
  scope: Scope,
  period: Period,
  projectId: string | null,
): Promise<DeliverySlice[]> {
  const [whole, edges] = slotsAndEdges(await spansWithinDays(scope, period));
  const { statement, values } = SLICES.by({ projectId });
  const all = [period.timezone, ...boundsOf(whole), ...boundsOf(edges), ...values];
  return replicated(scope, (from) => from.readLong(statement, all));
}
