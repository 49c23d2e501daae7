import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";
import { createTenantTable } from "./tenant-table";

/** Of a list of logs: those of an assistant, or of one of its channels. An empty `channel` stands for all. */
const LIST = `assistant_id text collate "C" not null, channel text collate "C" not null`;

/**
 * Counts of consecutive logs, by which a page far from both ends of a list is found. A block begins at `from_at` and
 * `from_id`, a place in the order of time and id, and ends where the next one of its list begins; the first one of a
 * list begins at `-infinity`. `logs` is null until the block is counted.
 *
 * Each start and removal of a chat is noted in `log_changes` by the transaction that makes it, in a row of its own, so
 * that writers never wait for each other. A job moves the changes into the blocks: at any moment, the logs of a counted
 * block are its `logs` and the changes in its range.
 */
export async function up(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "log_blocks",
    `${LIST}, from_at timestamptz not null, from_id text collate "C" not null, logs integer`,
    "assistant_id, channel, from_at, from_id",
  );
  await db.raw(
    `create index log_blocks_to_change on log_blocks (organization_id) where logs is null or logs > 4000 or logs = 0`,
  );
  await createTenantTable(
    db,
    "log_changes",
    `${LIST}, started_at timestamptz not null, chat_id text collate "C" not null, change integer not null`,
    "assistant_id, started_at, chat_id, channel",
  );
  // Its few rows come and go with every chat.
  await db.raw(
    `alter table log_changes set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500)`,
  );
  await db.raw(ORGANIZATIONS);
}

// Organizations are not known to the job that counts their logs.
const ORGANIZATIONS = `
  create function parley_uncounted_organizations() returns table (organization_id text)
  language sql security definer set search_path = pg_catalog, public as $$
    with recursive found as (
      (select c.organization_id as id from public.log_changes c order by 1 limit 1)
      union all
      select (select c.organization_id from public.log_changes c where c.organization_id > found.id order by 1 limit 1)
      from found where found.id is not null
    )
    select found.id from found where found.id is not null
    union select b.organization_id from public.log_blocks b where b.logs is null or b.logs > 4000
  $$`;

/** Assistants per batch. */
const BATCH_SIZE = 500;

/**
 * Older servers note no changes, so no block is made before all servers do. Then a first block is stored for each list,
 * which the job counts.
 */
export const online: readonly OnlineStep[] = [
  { kind: "switch", name: "count_logs", mark: "blocks" },
  {
    kind: "backfill",
    name: "log_blocks",
    table: "chats",
    after: "count_logs",
    batch: async (db, cursor) => {
      const after = (cursor as [string, string] | null) ?? ["", ""];
      const { rows } = await db.raw<{ rows: { last: [string, string] | null }[] }>(
        `with recursive found as (
           select ?::text collate "C" as organization_id, ?::text collate "C" as assistant_id, 0 as n
           union all
           select next.organization_id, next.assistant_id, n + 1 from found cross join lateral (
             select c.organization_id, c.assistant_id from chats c
             where (c.organization_id, c.assistant_id) > (found.organization_id, found.assistant_id)
             order by 1, 2 limit 1
           ) next where n < ?
         ), stored as (
           insert into log_blocks (organization_id, assistant_id, channel, from_at, from_id)
           select found.organization_id, found.assistant_id, list.channel, '-infinity', ''
           from found cross join unnest(array['', 'TEXT', 'VOICE', 'SMS']) list (channel)
           where n > 0 and (list.channel = '' or exists (
             select from chats c where c.organization_id = found.organization_id
               and c.assistant_id = found.assistant_id and c.channel = list.channel))
           on conflict do nothing
         )
         select json_build_array(organization_id, assistant_id) as last from found where n = ?`,
        [...after, BATCH_SIZE, BATCH_SIZE],
      );
      return rows[0]?.last ?? null;
    },
  },
];

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_uncounted_organizations()`);
  await db.raw(`drop table log_changes, log_blocks`);
  await db.raw(`delete from online_steps where name in ('count_logs', 'log_blocks')`);
}
