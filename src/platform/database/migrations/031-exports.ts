import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

/** Exports of what is stored of a person. Who it is stands in the row sealed, until the archive is finished. */
export async function up(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "end_user_exports",
    `
    id text collate "C" not null,
    subject text not null check (subject in ('UNIQUE_ID', 'USER_ID', 'ANONYMOUS_ID', 'PHONE_NUMBER')),
    digest text collate "C" not null,
    sealed_target text,
    status text not null default 'PENDING'
      check (status in ('PENDING', 'RUNNING', 'DONE', 'FAILED', 'EXPIRED', 'WITHDRAWN')),
    problem text,
    attempt integer not null default 0,
    chat_ids text[] not null default '{}',
    archive_id text collate "C",
    size bigint not null default 0,
    chats integer not null default 0,
    messages integer not null default 0,
    events integer not null default 0,
    files integer not null default 0,
    recordings integer not null default 0,
    absent integer not null default 0,
    requested_at timestamptz not null default now(),
    finished_at timestamptz,
    expires_at timestamptz`,
  );
  await db.raw(
    `create index end_user_exports_stored on end_user_exports (organization_id, expires_at) include (size)
     where archive_id is not null`,
  );
  await db.raw(`alter table erasures add column exports integer not null default 0`);
  // Run as the owner, as no organization is known to who looks for archives of all of them.
  await db.raw(`
    create function parley_expired_exports() returns table (organization_id text, export_id text)
    language sql security definer set search_path = pg_catalog, public as $$
      select e.organization_id, e.id from public.end_user_exports e
      where e.archive_id is not null and e.expires_at < now()
    $$`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_expired_exports()`);
  await db.raw(`alter table erasures drop column exports`);
  await db.raw(`drop table end_user_exports`);
}
