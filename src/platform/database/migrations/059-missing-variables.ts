import type { Knex } from "knex";

/** What an assistant does about a variable without a value: KEEP, BLANK or REFUSE. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table assistants add column missing_variables text not null default 'KEEP'`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`alter table assistants drop column missing_variables`);
}
