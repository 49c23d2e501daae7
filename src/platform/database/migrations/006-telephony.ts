import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

export async function up(db: Knex): Promise<void> {
  await connections(db);
  await messages(db);
}

async function connections(db: Knex): Promise<void> {
  const ofConnection = `foreign key (organization_id, connection_id) references telephony_connections (organization_id, id) on delete cascade`;
  await createTenantTable(
    db,
    "telephony_connections",
    `
    id text collate "C" not null,
    phone_number text not null,
    account_sid text not null,
    sealed_token text not null,
    messaging_service_sid text,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    unique (organization_id, phone_number)`,
  );
  // Finds the organization of a number, and keeps it with one. Not a tenant table: nobody knows the organization yet.
  await db.raw(`
    create table telephony_lookup (
      phone_number text collate "C" primary key,
      organization_id text collate "C" not null,
      connection_id text collate "C" not null,
      ${ofConnection}
    )`);
  await db.raw(
    `create index telephony_lookup_connection on telephony_lookup (organization_id, connection_id)`,
  );
  // Who answers texts to the number: the first one, and those whose keywords a text holds.
  await createTenantTable(
    db,
    "telephony_assistants",
    `
    connection_id text collate "C" not null,
    assistant_id text collate "C" not null,
    position integer not null,
    ${ofConnection},
    foreign key (organization_id, assistant_id) references assistants (organization_id, id) on delete cascade`,
    "connection_id, assistant_id",
  );
  await db.raw(
    `create index telephony_assistants_assistant on telephony_assistants (organization_id, assistant_id)`,
  );
}

async function messages(db: Knex): Promise<void> {
  const ofConnection = `foreign key (organization_id, connection_id) references telephony_connections (organization_id, id) on delete cascade`;
  const ofChat = `foreign key (organization_id, chat_id) references chats (organization_id, id) on delete cascade`;
  // Two numbers that texted: whoever wants no more texts stays so when the number is connected anew.
  await createTenantTable(
    db,
    "sms_contacts",
    `
    own_number text collate "C" not null,
    phone_number text collate "C" not null,
    opted_out_at timestamptz,
    answers jsonb not null default '[]',
    updated_at timestamptz not null default now()`,
    "own_number, phone_number",
  );
  // A chat by SMS, and up to which of its messages the person was sent them.
  await createTenantTable(
    db,
    "sms_threads",
    `
    chat_id text collate "C" not null,
    connection_id text collate "C" not null,
    assistant_id text collate "C" not null,
    phone_number text not null,
    sent_sequence integer not null default 0,
    ${ofChat},
    ${ofConnection}`,
    "chat_id",
  );
  await db.raw(
    `create index sms_threads_person on sms_threads (organization_id, connection_id, phone_number, chat_id)`,
  );
  // Texts that had their effect, so that the same one has it once, and gets the same answer.
  await createTenantTable(
    db,
    "sms_received",
    `
    message_sid text collate "C" not null,
    connection_id text collate "C" not null,
    chat_id text collate "C",
    sequence integer,
    sms jsonb not null,
    outcome text,
    answer jsonb,
    waits_until timestamptz,
    created_at timestamptz not null default now(),
    ${ofConnection},
    ${ofChat}`,
    "message_sid",
  );
  await db.raw(
    `create index sms_received_waiting on sms_received (organization_id, chat_id) where answer is null`,
  );
  // Every text that goes out, each of a long answer by itself, and which way it went.
  await createTenantTable(
    db,
    "sms_sent",
    `
    id text collate "C" not null,
    chat_id text collate "C" not null,
    via text not null check (via in ('TWIML', 'API')),
    body text not null,
    attempts integer not null default 0,
    asked_at timestamptz,
    sent_at timestamptz,
    message_sid text,
    problem text,
    created_at timestamptz not null default now(),
    ${ofChat}`,
  );
  await db.raw(
    `create index sms_sent_open on sms_sent (organization_id, chat_id, id) where sent_at is null and problem is null`,
  );
}

export async function down(db: Knex): Promise<void> {
  for (const table of ["sms_sent", "sms_received", "sms_threads", "sms_contacts"])
    await db.raw(`drop table ${table}`);
  for (const table of ["telephony_assistants", "telephony_lookup", "telephony_connections"])
    await db.raw(`drop table ${table}`);
}
