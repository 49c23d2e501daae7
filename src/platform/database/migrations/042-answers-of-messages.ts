import type { Knex } from "knex";

/**
 * The sequence of the last message that an answer answers; null for other messages, and for answers stored before. It
 * finds the answer to a message among those of other messages of the chat.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table messages add column answers_up_to integer`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`alter table messages drop column answers_up_to`);
}
