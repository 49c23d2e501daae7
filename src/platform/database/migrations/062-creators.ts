import type { Knex } from "knex";

/** Who created an assistant, as the first version says it: that version is stored only when the assistant changes. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table assistants add column created_by jsonb`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`alter table assistants drop column created_by`);
}
