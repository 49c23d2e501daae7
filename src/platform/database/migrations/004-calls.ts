import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

const IDLE = (condition: string) => `
  create or replace function parley_idle_chats(idle_since timestamptz) returns table (organization_id text, chat_id text)
  language sql security definer set search_path = pg_catalog, public as $$
    select c.organization_id, c.id from public.chats c
    where c.status = 'in-progress' and c.last_message_at < idle_since and ${condition} limit 500
  $$`;

export async function up(db: Knex): Promise<void> {
  // Who was called stands with the chat: its log shows it and searches in it.
  await db.raw(
    `alter table chats add column user_name text, add column anonymous_id text, add column external_id text`,
  );
  for (const column of ["external_id", "phone_number", "user_id"])
    await db.raw(
      `create index chats_${column} on chats (organization_id, ${column}, id) where ${column} is not null`,
    );
  await calls(db);
  // A voice engine ends its own calls; every other chat ends when nothing is said in it.
  await db.raw(
    IDLE(`not exists (
      select 1 from public.calls k where k.organization_id = c.organization_id and k.chat_id = c.id and k.engine <> 'page')`),
  );
}

async function calls(db: Knex): Promise<void> {
  const ofChat = `foreign key (organization_id, chat_id) references chats (organization_id, id) on delete cascade`;
  const ofCall = `foreign key (organization_id, chat_id) references calls (organization_id, chat_id) on delete cascade`;
  // The status is the chat's. Workflows and deployments have no foreign key: a call outlives what it was placed with.
  await createTenantTable(
    db,
    "calls",
    `
    chat_id text collate "C" not null,
    kind text not null check (kind in ('PHONE', 'WEB')),
    workflow_id text collate "C",
    deployment_id text collate "C",
    engine text not null,
    line text,
    sealed_secret text not null,
    engine_call_id text,
    dial_attempts integer not null default 0,
    dialing_since timestamptz,
    asked_at timestamptz,
    dialed_at timestamptz,
    answered_at timestamptz,
    heard_at timestamptz,
    transcribed boolean not null default false,
    spoken jsonb not null default '{}',
    created_at timestamptz not null default now(),
    ${ofChat}`,
    "chat_id",
  );
  await db.raw(`create index calls_line on calls (organization_id, line, chat_id) where line is not null`);
  // Finds the call of a callback. Not a tenant table: nobody knows the organization yet.
  await db.raw(`
    create table call_lookup (
      lookup text collate "C" primary key,
      organization_id text collate "C" not null,
      chat_id text collate "C" not null,
      ${ofCall}
    )`);
  await db.raw(`create index call_lookup_call on call_lookup (organization_id, chat_id)`);
  // Callbacks that had their effect, so that the same one has it once.
  await createTenantTable(
    db,
    "engine_callbacks",
    `
    chat_id text collate "C" not null,
    digest text not null,
    answer json,
    created_at timestamptz not null default now(),
    ${ofCall}`,
    "chat_id, digest",
  );
}

export async function down(db: Knex): Promise<void> {
  await db.raw(IDLE(`c.channel <> 'VOICE'`));
  for (const table of ["engine_callbacks", "call_lookup", "calls"]) await db.raw(`drop table ${table}`);
  await db.raw(`drop index chats_external_id, chats_phone_number, chats_user_id`);
  await db.raw(`alter table chats drop column user_name, drop column anonymous_id, drop column external_id`);
}
