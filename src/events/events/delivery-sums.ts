import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { unprepared } from "../../platform/database/statement";
import { inBatches } from "../../platform/jobs/rest";

/** In milliseconds. Stored sums depend on these: change them only in a migration that empties the sums. */
export const DELIVERY_BOUNDS = [50, 100, 200, 400, 800, 1_500, 3_000, 6_000, 10_000];
/** SQL: the bucket of a delivery's answer time; 0 is below the first bound, null if it was not made. */
export const TIME_BUCKET = `width_bucket(duration_ms, array[${DELIVERY_BOUNDS.join(", ")}])`;
/** The columns of the sums by bucket. */
export const TIMES = [0, ...DELIVERY_BOUNDS].map((_, index) => `t${index}` as `t${TimeBucket}`);
type TimeBucket = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;

/** The online step that is done when all servers leave gaps where they delete deliveries. */
const COUNT_STEP = "count_deliveries";
/** Lock of the sums of an organization. */
const SUMS = "deliveries.sums";
/** Deliveries become visible when their transaction ends, so those of the last minutes are not counted. */
const SETTLE_MINUTES = 10;
/** Deliveries per transaction, unless a quarter of an hour has more. */
const BATCH_SIZE = 20_000;
/** Gaps per transaction. */
const GAPS = 10;

const QUARTER_MS = 900_000;
/** SQL: the start of the quarter of an hour that contains a time. */
const quarterOf = (time: string) => `date_bin('15 minutes', ${time}, timestamptz '0001-01-01Z')`;
const UNCOUNTED_FROM = quarterOf(`now() - interval '${SETTLE_MINUTES} minutes'`);

/** A time span; `to` is exclusive. */
interface Span {
  readonly from: Date;
  readonly to: Date;
}

/** The next span to count: about $2 deliveries, in whole quarters. */
const NEXT = unprepared<Span>(({ db, $ }) =>
  db.raw(
    `with head as (
      select coalesce(
        (select until from delivery_sum_heads h where h.organization_id = $1), '-infinity') as until
    ), start as (
      select ${quarterOf("created_at")} as at from deliveries d
      where d.organization_id = $1 and d.created_at >= (select until from head) order by created_at limit 1
    ), size as (
      select created_at as at from deliveries d
      where d.organization_id = $1 and d.created_at >= (select at from start) order by created_at offset ? limit 1
    )
    select start.at as "from", least(${UNCOUNTED_FROM}, coalesce(
      (select greatest(${quarterOf("size.at")}, start.at + interval '15 minutes') from size), 'infinity')) as "to"
    from start where start.at < ${UNCOUNTED_FROM}`,
    [$(1)],
  ),
);

const NEXT_GAPS = unprepared<{ startsAt: Date }>(({ table, $ }) =>
  table("delivery_sum_gaps")
    .select("startsAt")
    .where("startsAt", ">", $(1))
    .orderByRaw("starts_at limit ?", [$(2)]),
);

interface Group {
  readonly startsAt: Date;
  readonly destinationId: string;
  readonly status: "PENDING" | "DELIVERED" | "FAILED";
  readonly retried: boolean;
  readonly bucket: number | null;
  readonly count: number;
}

/**
 * Counts the deliveries of spans one by one, in order, so that neighboring sums are stored together. `offset 0` keeps
 * PostgreSQL from reading all deliveries once for all spans.
 */
const GROUPS = unprepared<Group>(({ table, $, db }) => {
  const ofSpan = table("deliveries")
    .select(
      "createdAt",
      "destinationId",
      "status",
      db.raw(`attempt > 1 as retried, ${TIME_BUCKET} as bucket`),
    )
    .whereRaw("created_at >= span.since and created_at < span.until offset 0");
  return db.raw(
    `select ${quarterOf("created_at")} as starts_at, destination_id, status, retried, bucket, count(*)::integer as count
     from unnest(?::timestamptz[], ?::timestamptz[]) span (since, until) cross join lateral (?) delivery group by 1, 2, 3, 4, 5 order by 1`,
    [$(1), $(2), ofSpan],
  );
});

const FURTHER = "on conflict (organization_id) do update set until = excluded.until";
const MOVE_HEAD = unprepared(({ db }) =>
  db.raw(`insert into delivery_sum_heads (organization_id, until) values ($1, $2) ${FURTHER}`),
);

export interface SumOptions {
  /** Deliveries per transaction. */
  readonly most?: number;
  /** Ends the run after the transaction at hand. */
  readonly stop?: AbortSignal;
}

/** Adds the deliveries of all organizations to their sums, once no server of an older version is connected. */
export async function sumDeliveries(database: Database, options: SumOptions = {}): Promise<void> {
  const { most = BATCH_SIZE, stop } = options;
  if (!(await database.isStepDone(COUNT_STEP))) return;
  for (const id of await database.uncountedDeliveries(SETTLE_MINUTES)) {
    let gap: Date | undefined = new Date(0);
    await inBatches(async () => {
      gap = await database.scope(id).transaction((scope) => fillGaps(scope, gap!));
      return gap !== undefined;
    }, stop);
    await inBatches(() => database.scope(id).transaction((scope) => sumNext(scope, most)), stop);
  }
}

/** Counts the next deliveries. @returns whether there may be more */
async function sumNext(scope: Scope, most: number): Promise<boolean> {
  if (!(await scope.tryLock(SUMS))) return false;
  const [span] = await scope.read(NEXT, [most]);
  if (!span) return false;
  const open = await count(scope, [span]);
  await scope.insertAll(
    "delivery_sum_gaps",
    open.map((startsAt) => ({ startsAt })),
  );
  await scope.write(MOVE_HEAD, [span.to]);
  return true;
}

/** Counts the next quarters that have gaps. @returns the last of them; undefined if there are no more */
async function fillGaps(scope: Scope, after: Date): Promise<Date | undefined> {
  if (!(await scope.tryLock(SUMS))) return undefined;
  const gaps = await scope.read(NEXT_GAPS, [after, GAPS]);
  if (gaps.length === 0) return undefined;
  const quarters = gaps.map(({ startsAt }) => startsAt);
  const open = new Set((await count(scope, quarters.map(spanOf))).map(Number));
  const filled = quarters.filter((quarter) => !open.has(Number(quarter)));
  await scope.table("delivery_sum_gaps").whereIn("startsAt", filled).delete();
  return quarters.at(-1);
}

const spanOf = (from: Date): Span => ({ from, to: new Date(from.getTime() + QUARTER_MS) });

/** Stores the sums of the quarters of spans. @returns the quarters without sums, because deliveries are pending */
async function count(scope: Scope, spans: readonly Span[]): Promise<Date[]> {
  const stay = new Set(await keptDestinations(scope));
  const all = await scope.read(GROUPS, [spans.map(({ from }) => from), spans.map(({ to }) => to)]);
  const groups = all.filter(({ destinationId }) => stay.has(destinationId));
  const pending = groups.filter(({ status }) => status === "PENDING");
  const open = new Map(pending.map(({ startsAt }) => [Number(startsAt), startsAt]));
  const sums = new Map<string, ReturnType<typeof emptySum>>();
  for (const group of groups) {
    if (open.has(Number(group.startsAt))) continue;
    const key = `${Number(group.startsAt)} ${group.destinationId}`;
    const sum = sums.get(key) ?? emptySum(group);
    sums.set(key, sum);
    sum[group.status === "FAILED" ? "failed" : "delivered"] += group.count;
    if (group.retried) sum.retried += group.count;
    if (group.bucket !== null) sum[TIMES[group.bucket]!] += group.count;
  }
  await scope.insertAll("delivery_sums", [...sums.values()]);
  return [...open.values()];
}

const emptySum = ({ startsAt, destinationId }: Group) => ({
  ...{ startsAt, destinationId, delivered: 0, failed: 0, retried: 0 },
  ...{ t0: 0, t1: 0, t2: 0, t3: 0, t4: 0, t5: 0, t6: 0, t7: 0, t8: 0, t9: 0 },
});

/**
 * Keeps the destinations from being deleted until the transaction ends: before their sums are changed, in the order of a
 * deletion, which removes the sums after the destination. @returns their ids
 */
async function keptDestinations(scope: Scope): Promise<string[]> {
  const rows = await scope.table("webhook_destinations").select("id").orderBy("id").forKeyShare();
  return rows.map(({ id }) => id);
}

/** The quarters in the sums that have some deliveries. */
const countedQuarters = (some: string) =>
  unprepared<{ startsAt: Date }>(({ db, $ }) =>
    db.raw(
      `select starts_at from (
       select distinct ${quarterOf("d.created_at")} as starts_at from deliveries d
       join delivery_sum_heads h on h.organization_id = d.organization_id
       where d.organization_id = $1 and ${some} and d.created_at < h.until
     ) quarter
     where not exists (
       select from delivery_sum_gaps g where g.organization_id = $1 and g.starts_at = quarter.starts_at)`,
      [$(1)],
    ),
  );
const QUARTERS_OF_EVENTS = countedQuarters("d.event_id = any(?::text[])");
const QUARTERS_OF_DESTINATION = countedQuarters("d.destination_id = ?");

/** Lets this transaction alone delete events of the organization, and no job count their deliveries meanwhile. */
export const lockSums = (scope: Scope): Promise<void> => scope.lock(SUMS);

/** Deletes events and their deliveries, in a transaction. @returns their number */
export async function deleteEvents(scope: Scope, ids: readonly string[]): Promise<number> {
  if (ids.length > 0) await leaveGaps(scope, QUARTERS_OF_EVENTS, ids);
  return await scope.table("events").whereIn("id", ids).delete();
}

/**
 * Lets a job count the deliveries of a destination that was deleted and has come back: its sums are gone. Runs in the
 * transaction that has created it.
 */
export const countAgain = (scope: Scope, destinationId: string): Promise<void> =>
  leaveGaps(scope, QUARTERS_OF_DESTINATION, destinationId);

/**
 * Takes quarters out of the sums, before the events of deliveries in them are deleted in the same transaction, or when
 * there are more of them. A job counts what is in them then.
 */
async function leaveGaps(scope: Scope, some: typeof QUARTERS_OF_EVENTS, value: unknown): Promise<void> {
  await lockSums(scope);
  await keptDestinations(scope);
  const quarters = (await scope.read(some, [value])).map(({ startsAt }) => startsAt);
  await scope.table("delivery_sums").whereIn("startsAt", quarters).delete();
  await scope.insertAll(
    "delivery_sum_gaps",
    quarters.map((startsAt) => ({ startsAt })),
  );
}
