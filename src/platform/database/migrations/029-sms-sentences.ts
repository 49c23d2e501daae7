import type { Knex } from "knex";

/** Sentences that belong to no chat are sent like the texts of chats: each attempt is stored before the provider is asked. */
export async function up(db: Knex): Promise<void> {
  await db.raw(
    `alter table sms_sent alter column chat_id drop not null,
     add column connection_id text collate "C", add column phone_number text collate "C"`,
  );
  await db.raw(
    `create index sms_sent_sentences on sms_sent (organization_id, phone_number, id) where chat_id is null`,
  );
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index sms_sent_sentences`);
  await db.raw(`delete from sms_sent where chat_id is null`);
  await db.raw(
    `alter table sms_sent drop column phone_number, drop column connection_id, alter column chat_id set not null`,
  );
}
