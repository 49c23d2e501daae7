import type { Knex } from "knex";

/** Names of the events that a destination has chosen, as a list; null without a choice. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table webhook_destinations add column events jsonb`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`alter table webhook_destinations drop column events`);
}
