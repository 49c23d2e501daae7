import type { Knex } from "knex";

/** Models whose latest answer failed, by identifier; null if none has ever failed. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table organizations add column model_failures jsonb`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`alter table organizations drop column model_failures`);
}
