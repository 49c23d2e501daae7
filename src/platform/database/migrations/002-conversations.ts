import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

export async function up(db: Knex): Promise<void> {
  await projects(db);
  await events(db);
  await endUsers(db);
  await knowledge(db);
  await jobs(db);
}

async function projects(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "projects",
    `
    id text collate "C" not null,
    name text not null,
    description text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()`,
  );
  // No foreign key: an assistant outlives its project.
  await db.raw(`alter table assistants add column project_id text collate "C"`);
  await db.raw(
    `create index assistants_project on assistants (organization_id, project_id) where project_id is not null`,
  );
  await db.raw(`
    alter table webhook_destinations
      add column project_id text collate "C",
      add column failures integer not null default 0,
      add column failing_since timestamptz,
      add column timed_out boolean not null default false,
      add column former_sealed_secret text,
      add column former_secret_until timestamptz,
      add foreign key (organization_id, project_id) references projects (organization_id, id) on delete cascade`);
}

async function events(db: Knex): Promise<void> {
  // The body is text: it is signed and sent byte for byte.
  await createTenantTable(
    db,
    "events",
    `
    id text collate "C" not null,
    name text not null,
    type text not null,
    assistant_id text collate "C" not null,
    chat_id text collate "C",
    body text not null,
    transaction xid8 not null default pg_current_xact_id(),
    created_at timestamptz not null default now()`,
  );
  await db.raw(`create index events_chat on events (organization_id, chat_id, id)`);
  // Ids are made before their transactions commit: a reader that follows the ledger goes by transactions.
  await db.raw(`create index events_order on events (organization_id, transaction, id)`);
  await db.raw(`create index events_age on events (created_at)`);
  await createTenantTable(
    db,
    "deliveries",
    `
    id text collate "C" not null,
    event_id text collate "C" not null,
    destination_id text collate "C" not null,
    chat_id text collate "C",
    status text not null default 'PENDING' check (status in ('PENDING', 'DELIVERED', 'FAILED')),
    attempt integer not null default 0,
    claimed_until timestamptz,
    next_attempt_at timestamptz not null default now(),
    attempts jsonb not null default '[]',
    created_at timestamptz not null default now(),
    foreign key (organization_id, event_id) references events (organization_id, id) on delete cascade,
    foreign key (organization_id, destination_id) references webhook_destinations (organization_id, id) on delete cascade`,
  );
  await db.raw(
    `create index deliveries_due on deliveries (organization_id, destination_id, event_id) where status = 'PENDING'`,
  );
  await db.raw(`create index deliveries_waiting on deliveries (next_attempt_at) where status = 'PENDING'`);
  await db.raw(
    `create index deliveries_of_chat on deliveries (organization_id, destination_id, chat_id, event_id) where status = 'PENDING'`,
  );
  await db.raw(`create index deliveries_destination on deliveries (organization_id, destination_id, id)`);
  await db.raw(`create index deliveries_event on deliveries (organization_id, event_id)`);
}

async function endUsers(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "end_users",
    `
    id text collate "C" not null,
    assistant_id text collate "C" not null,
    unique_id text not null,
    facts jsonb not null default '[]',
    context text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    foreign key (organization_id, assistant_id) references assistants (organization_id, id) on delete cascade,
    unique (organization_id, assistant_id, unique_id)`,
  );
  await db.raw(
    `create index chats_unique_id on chats (organization_id, unique_id, id) where unique_id is not null`,
  );
  await db.raw(
    `alter table chats add column errors jsonb not null default '[]', add column notes jsonb not null default '{}', add column answered_sequence integer not null default 0`,
  );
  await db.raw(`create index chats_idle on chats (last_message_at) where status = 'in-progress'`);
  await db.raw(`
    alter table organizations
      add column require_signed_identity boolean not null default false,
      add column sealed_identity_secret text`);
  await createTenantTable(
    db,
    "model_credentials",
    `
    id text collate "C" not null,
    provider text not null,
    sealed_key text,
    base_url text,
    updated_at timestamptz not null default now(),
    unique (organization_id, provider)`,
  );
}

async function knowledge(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "assistant_files",
    `
    assistant_id text collate "C" not null,
    file_id text collate "C" not null,
    status text not null default 'PENDING' check (status in ('PENDING', 'READY', 'FAILED')),
    problem text,
    created_at timestamptz not null default now(),
    foreign key (organization_id, assistant_id) references assistants (organization_id, id) on delete cascade,
    foreign key (organization_id, file_id) references files (organization_id, id) on delete cascade`,
    "assistant_id, file_id",
  );
  await createTenantTable(
    db,
    "passages",
    `
    id text collate "C" not null,
    file_id text collate "C" not null,
    ordinal integer not null,
    content text not null,
    words tsvector not null generated always as (to_tsvector('english', content)) stored,
    foreign key (organization_id, file_id) references files (organization_id, id) on delete cascade`,
  );
  await db.raw(`create index passages_file on passages (organization_id, file_id, ordinal)`);
  await db.raw(`create index passages_words on passages using gin (words)`);
}

async function jobs(db: Knex): Promise<void> {
  await db.raw(
    `create table worker_heartbeats (worker_id text primary key, seen_at timestamptz not null default now())`,
  );
  // Runs as the owner, so that the role of the service needs no right on the worker's own tables.
  await db.raw(`
    create function parley_enqueue(task text, payload json, queue text, run_at timestamptz, job_key text) returns void
    language plpgsql security definer set search_path = pg_catalog, public as $$
    begin
      perform graphile_worker.add_job(task, payload, queue_name => queue, run_at => run_at, max_attempts => 3, job_key => job_key);
    end $$`);
  // Organizations are not known here: the dispatcher asks which destinations have something to send.
  await db.raw(`
    create function parley_due_destinations() returns table (organization_id text, destination_id text)
    language sql security definer set search_path = pg_catalog, public as $$
      select distinct d.organization_id, d.destination_id from public.deliveries d
      where d.status = 'PENDING' and d.next_attempt_at <= now() and (d.claimed_until is null or d.claimed_until < now())
    $$`);
  await db.raw(`
    create function parley_idle_chats(idle_since timestamptz) returns table (organization_id text, chat_id text)
    language sql security definer set search_path = pg_catalog, public as $$
      select c.organization_id, c.id from public.chats c
      where c.status = 'in-progress' and c.last_message_at < idle_since and c.channel <> 'VOICE' limit 500
    $$`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_idle_chats(timestamptz)`);
  await db.raw(`drop function parley_due_destinations()`);
  await db.raw(`drop function parley_enqueue(text, json, text, timestamptz, text)`);
  for (const table of ["worker_heartbeats", "passages", "assistant_files", "model_credentials", "end_users"])
    await db.raw(`drop table ${table}`);
  for (const table of ["deliveries", "events"]) await db.raw(`drop table ${table}`);
  await db.raw(`drop index chats_unique_id, chats_idle`);
  await db.raw(
    `alter table organizations drop column require_signed_identity, drop column sealed_identity_secret`,
  );
  await db.raw(`alter table chats drop column errors, drop column notes, drop column answered_sequence`);
  await db.raw(`
    alter table webhook_destinations drop column project_id, drop column failures, drop column failing_since,
      drop column timed_out, drop column former_sealed_secret, drop column former_secret_until`);
  await db.raw(`alter table assistants drop column project_id`);
  await db.raw(`drop table projects`);
}
