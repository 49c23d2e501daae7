import type { Knex } from "knex";

/** Lists of conversations and calls sort by the time at which they began, then id. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`create index chats_by_age on chats (organization_id, assistant_id, started_at, id)`);
  await db.raw(`create index calls_by_age on calls (organization_id, created_at, chat_id)`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index chats_by_age, calls_by_age`);
}
