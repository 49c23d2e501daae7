import type { Knex } from "knex";

/** Warnings of a stored answer, which a repeated request gets too; null for an answer without any. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table idempotency_keys add column warnings jsonb`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`alter table idempotency_keys drop column warnings`);
}
