import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

export async function up(db: Knex): Promise<void> {
  await db.raw(`set local statement_timeout = 0`);
  // For how many days logs, recordings and events are kept: as the organization chose (null: as the settings say), what
  // holds now (null: for ever), and what it was told will hold.
  await createTenantTable(
    db,
    "retentions",
    `
    kind text not null check (kind in ('LOGS', 'RECORDINGS', 'EVENTS')),
    chosen_days integer check (chosen_days > 0),
    held_days integer check (held_days > 0),
    told_days integer check (told_days > 0),
    told_at timestamptz`,
    "kind",
  );
  await db.raw(`create index chats_age on chats (organization_id, started_at)`);
  await db.raw(
    `create index chats_recorded on chats (organization_id, started_at) where recording_url is not null`,
  );
  // Organizations are not known to who enforces their retention.
  await db.raw(`
    create function parley_organizations() returns table (organization_id text)
    language sql security definer set search_path = pg_catalog, public as $$
      select o.id from public.organizations o order by o.id
    $$`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_organizations()`);
  await db.raw(`drop index chats_recorded`);
  await db.raw(`drop index chats_age`);
  await db.raw(`drop table retentions`);
}
