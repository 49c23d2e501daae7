import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";
import { createTenantTable } from "./tenant-table";

/** Numbers of made deliveries by the time to the answer. */
const TIMES = Array.from({ length: 10 }, (_, index) => `t${index} integer not null`).join(", ");

/**
 * Counts of made and failed deliveries by destination and quarter of an hour (UTC), so that statistics do not read all
 * deliveries. They cover every quarter before `delivery_sum_heads.until`, except those in `delivery_sum_gaps`: of these,
 * deliveries are pending, or have been deleted since they were counted. A job counts them again.
 */
export async function up(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "delivery_sums",
    `starts_at timestamptz not null,
    destination_id text collate "C" not null,
    delivered integer not null,
    failed integer not null,
    retried integer not null,
    ${TIMES},
    foreign key (organization_id, destination_id) references webhook_destinations (organization_id, id) on delete cascade`,
    "starts_at, destination_id",
  );
  await createTenantTable(db, "delivery_sum_gaps", "starts_at timestamptz not null", "starts_at");
  await createTenantTable(db, "delivery_sum_heads", "until timestamptz not null", null);
  await db.raw(ORGANIZATIONS);
  // A claim changes no index, and costs half if the new row fits beside the old one.
  await db.raw(`alter table deliveries set (fillfactor = 85)`);
}

// Organizations are not known to the job that counts their deliveries.
const ORGANIZATIONS = `
  create function parley_uncounted_deliveries(before timestamptz) returns table (organization_id text)
  language sql security definer set search_path = pg_catalog, public as $$
    with recursive found as (
      (select d.organization_id as id from public.deliveries d order by 1 limit 1)
      union all
      select (select d.organization_id from public.deliveries d where d.organization_id > found.id order by 1 limit 1)
      from found where found.id is not null
    )
    select found.id from found left join public.delivery_sum_heads h on h.organization_id = found.id
    where exists (select from public.deliveries d where d.organization_id = found.id
        and d.created_at >= coalesce(h.until, '-infinity') and d.created_at < before)
    union select g.organization_id from public.delivery_sum_gaps g
  $$`;

/**
 * Servers of older versions delete deliveries without leaving a gap, so nothing is counted while one is connected. The
 * former index by time contained columns that claims and results change.
 */
export const online: readonly OnlineStep[] = [
  { kind: "switch", name: "count_deliveries", mark: "quarters" },
  {
    kind: "index",
    name: "deliveries_by_time",
    table: "deliveries",
    columns: "(organization_id, created_at)",
  },
  {
    kind: "backfill",
    name: "without_deliveries_created",
    table: "deliveries",
    batch: async (db) => {
      // Everything that reads deliveries waits behind this while an older transaction reads them.
      await db.raw(`set local lock_timeout = '2s'`);
      await db.raw(`drop index if exists deliveries_created`);
      return null;
    },
  },
];

export async function down(db: Knex): Promise<void> {
  await db.raw(`alter table deliveries reset (fillfactor)`);
  await db.raw(`drop index if exists deliveries_by_time`);
  await db.raw(`create index if not exists deliveries_created on deliveries (organization_id, created_at)
    include (destination_id, status, attempt, duration_ms)`);
  await db.raw(`drop function parley_uncounted_deliveries(timestamptz)`);
  await db.raw(`drop table delivery_sums, delivery_sum_gaps, delivery_sum_heads`);
  await db.raw(`delete from online_steps where name in ('count_deliveries', 'without_deliveries_created')`);
}
