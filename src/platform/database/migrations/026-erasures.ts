import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

const FACTS = ["conversation_facts_kept", "function_facts_kept"];

export async function up(db: Knex): Promise<void> {
  await db.raw(`set local statement_timeout = 0`);
  // Counts outlive the chats that they were made from.
  for (const table of FACTS)
    await db.raw(`alter table ${table} drop constraint ${table}_organization_id_chat_id_fkey`);
  await db.raw(`alter table organizations add column sealed_erasure_key text`);
  await db.raw(`
    alter table end_users
      add column context_chat_id text collate "C",
      add column signed_context_chat_id text collate "C"`);
  await db.raw(
    `create index chats_anonymous_id on chats (organization_id, anonymous_id, id) where anonymous_id is not null`,
  );
  await erasures(db);
  await functions(db);
}

/** What was asked to be erased, and the receipt of it. Whose words they were stands in it sealed, until they are gone. */
async function erasures(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "erasures",
    `
    id text collate "C" not null,
    subject text not null check (subject in ('UNIQUE_ID', 'USER_ID', 'ANONYMOUS_ID', 'PHONE_NUMBER', 'LOGS')),
    digest text collate "C",
    sealed_target text,
    status text not null default 'PENDING' check (status in ('PENDING', 'RUNNING', 'DONE')),
    until timestamptz not null default now(),
    matched integer not null default 0,
    chats integer not null default 0,
    messages integer not null default 0,
    events integer not null default 0,
    recordings integer not null default 0,
    texts integer not null default 0,
    facts integer not null default 0,
    contexts integer not null default 0,
    files integer not null default 0,
    requested_at timestamptz not null default now(),
    worked_at timestamptz not null default now(),
    finished_at timestamptz`,
  );
  await db.raw(
    `create index erasures_unfinished on erasures (organization_id, worked_at) where status <> 'DONE'`,
  );
}

/** Run as the owner: organizations are not known to who looks for unfinished work, nor are tables of jobs reached. */
async function functions(db: Knex): Promise<void> {
  await db.raw(`
    create function parley_unfinished_erasures(silence interval) returns table (organization_id text, erasure_id text)
    language sql security definer set search_path = pg_catalog, public as $$
      select e.organization_id, e.id from public.erasures e
      where e.status <> 'DONE' and e.worked_at < now() - silence
    $$`);
  // Jobs that run are left alone: what they are about has ended, and they stop by themselves.
  await db.raw(`
    create function parley_forget_jobs(organization text, chats text[], phone_number text) returns integer
    language plpgsql security definer set search_path = pg_catalog, public as $$
    declare gone integer;
    begin
      delete from graphile_worker._private_jobs job
      where job.locked_at is null and job.payload ->> 'organizationId' = organization
        and (job.payload ->> 'chatId' = any(chats) or job.payload ->> 'to' = phone_number);
      get diagnostics gone = row_count;
      return gone;
    end $$`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_forget_jobs(text, text[], text)`);
  await db.raw(`drop function parley_unfinished_erasures(interval)`);
  await db.raw(`drop table erasures`);
  await db.raw(`drop index chats_anonymous_id`);
  await db.raw(`alter table end_users drop column context_chat_id, drop column signed_context_chat_id`);
  await db.raw(`alter table organizations drop column sealed_erasure_key`);
  for (const table of FACTS) {
    await db.raw(
      `delete from ${table} f where not exists (
         select from chats c where c.organization_id = f.organization_id and c.id = f.chat_id)`,
    );
    await db.raw(
      `alter table ${table} add foreign key (organization_id, chat_id) references chats (organization_id, id) on delete cascade`,
    );
  }
}
