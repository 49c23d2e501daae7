import type { Knex } from "knex";

/** What the provider reports of a text's delivery, and the message that it is a part of. */
export async function up(db: Knex): Promise<void> {
  await db.raw(
    `alter table sms_sent add column message_id text collate "C", add column delivery text, add column delivery_error text`,
  );
  await db.raw(
    `create index sms_sent_sid on sms_sent (organization_id, message_sid) where message_sid is not null`,
  );
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index sms_sent_sid`);
  await db.raw(
    `alter table sms_sent drop column message_id, drop column delivery, drop column delivery_error`,
  );
}
