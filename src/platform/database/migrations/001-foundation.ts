import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

const ASSISTANT = `
  assistant_id text collate "C" not null,
  foreign key (organization_id, assistant_id) references assistants (organization_id, id) on delete cascade`;

const TEXT_MODEL = `
  initial_message text not null default 'Hello! How can I help you today\\?',
  prompt text not null default 'You are a friendly and helpful assistant. Answer briefly and truthfully. When you do not know something, say so.',
  resources text not null default '',
  provider text not null default 'OPENAI',
  model text not null default 'GPT_4_O_MINI',
  temperature double precision not null default 0.7,
  max_tokens_output integer not null default 1024,
  functions json not null default '[]',
  is_rag_enabled boolean not null default false,
  force_rag boolean not null default false,
  rag_trigger_topics text not null default '',
  preserve_rag_result boolean not null default false,
  updated_at timestamptz not null default now()`;

export async function up(db: Knex): Promise<void> {
  await organizations(db);
  await assistants(db);
  await webhooksAndFiles(db);
  await chats(db);
}

async function organizations(db: Knex): Promise<void> {
  await db.raw(`
    create table organizations (
      id text collate "C" primary key,
      name text not null,
      is_default boolean not null default false,
      created_at timestamptz not null default now()
    )`);
  await db.raw(`create unique index organizations_default on organizations (is_default) where is_default`);
  await createTenantTable(
    db,
    "api_keys",
    `
    id text collate "C" not null,
    type text not null check (type in ('SECRET', 'PUBLIC')),
    status text not null check (status in ('ACTIVE', 'INACTIVE')),
    sealed_value text not null,
    created_at timestamptz not null default now(),
    last_used_at timestamptz`,
  );
  // Finds the organization of a presented key. Not a tenant table: nobody knows the organization yet.
  await db.raw(`
    create table key_lookup (
      lookup text collate "C" primary key,
      organization_id text collate "C" not null,
      key_id text collate "C" not null,
      foreign key (organization_id, key_id) references api_keys (organization_id, id) on delete cascade
    )`);
  await db.raw(`create index key_lookup_key on key_lookup (organization_id, key_id)`);
  await createTenantTable(
    db,
    "idempotency_keys",
    `
    key text collate "C" not null,
    request_hash text not null,
    status integer not null,
    sealed_body text not null,
    created_at timestamptz not null default now()`,
    "key",
  );
  await db.raw(`create index idempotency_keys_age on idempotency_keys (created_at)`);
}

async function assistants(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "assistants",
    `
    id text collate "C" not null,
    name text not null,
    description text,
    variables jsonb,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz`,
  );
  await db.raw(`create index assistants_live on assistants (organization_id, id) where deleted_at is null`);
  await createTenantTable(
    db,
    "voice_configurations",
    `${ASSISTANT}, ${TEXT_MODEL},
    voice_provider text not null default 'ELEVENLABS',
    voice text not null default 'burt',
    background_sound text not null default 'DEFAULT' check (background_sound in ('DEFAULT', 'OFF', 'OFFICE')),
    backchanneling boolean not null default false,
    end_call_function boolean not null default true,
    dial_keypad_function boolean not null default false,
    end_call_message text not null default 'Thank you for calling. Goodbye!',
    end_call_phrases text not null default ''`,
    "assistant_id",
  );
  await createTenantTable(
    db,
    "sms_configurations",
    `${ASSISTANT}, ${TEXT_MODEL},
    sms_mode boolean not null default true,
    voice_call_mode boolean not null default false,
    keywords text not null default ''`,
    "assistant_id",
  );
  await createTenantTable(
    db,
    "chat_configurations",
    `${ASSISTANT}, ${TEXT_MODEL},
    chat_mode boolean not null default true,
    quick_replies_enabled boolean not null default false`,
    "assistant_id",
  );
  await createTenantTable(
    db,
    "theme_configurations",
    `${ASSISTANT},
    theme jsonb not null default '{}',
    mode text not null default 'VOICE_AND_CHAT' check (mode in ('CHAT_ONLY', 'VOICE_ONLY', 'VOICE_AND_CHAT')),
    updated_at timestamptz not null default now()`,
    "assistant_id",
  );
  // Shared by all organizations; the service fills it at start.
  await db.raw(`
    create table templates (
      id text collate "C" primary key,
      name text not null,
      description text,
      variables jsonb,
      voice json not null,
      sms json not null,
      chat json not null,
      theme json not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`);
}

async function webhooksAndFiles(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "webhook_destinations",
    `
    id text collate "C" not null,
    url text not null,
    name text,
    sealed_secret text not null,
    enabled boolean not null default true,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()`,
  );
  await createTenantTable(
    db,
    "files",
    `
    id text collate "C" not null,
    name text not null,
    mime_type text not null,
    detected_type text not null,
    size bigint not null,
    metadata jsonb not null default '{}',
    created_at timestamptz not null default now()`,
  );
}

async function chats(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "chats",
    `
    id text collate "C" not null,
    ${ASSISTANT},
    channel text not null check (channel in ('VOICE', 'TEXT', 'SMS')),
    status text not null check (status in ('queued', 'ringing', 'in-progress', 'forwarding', 'ended')),
    status_event_id text collate "C" not null,
    label text,
    first_words text,
    phone_number text,
    user_id text,
    unique_id text,
    variables jsonb not null default '{}',
    metadata jsonb not null default '{}',
    recording_url text,
    message_count integer not null default 0,
    started_at timestamptz not null default now(),
    last_message_at timestamptz not null default now(),
    ended_at timestamptz,
    ended_reason text`,
  );
  await db.raw(`create index chats_assistant on chats (organization_id, assistant_id, id)`);
  await createTenantTable(
    db,
    "messages",
    `
    id text collate "C" not null,
    chat_id text collate "C" not null,
    sequence integer not null,
    role text not null check (role in ('ASSISTANT', 'TOOL', 'USER', 'SYSTEM')),
    channel text not null check (channel in ('VOICE', 'TEXT', 'SMS')),
    content text,
    metadata jsonb not null default '{}',
    tool_call_id text,
    tool_calls json,
    created_at timestamptz not null default now(),
    foreign key (organization_id, chat_id) references chats (organization_id, id) on delete cascade,
    unique (organization_id, chat_id, sequence)`,
  );
}

export async function down(db: Knex): Promise<void> {
  const tables = ["messages", "chats", "files", "webhook_destinations", "templates", "theme_configurations"];
  tables.push("chat_configurations", "sms_configurations", "voice_configurations", "assistants");
  tables.push("idempotency_keys", "key_lookup", "api_keys", "organizations");
  for (const table of tables) await db.raw(`drop table if exists ${table}`);
}
