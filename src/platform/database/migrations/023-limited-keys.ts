import type { Knex } from "knex";

/** Keys may have a name, an end, and be limited to permissions and assistants; null: not limited. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table api_keys
      add column name text,
      add column expires_at timestamptz,
      add column permissions jsonb,
      add column assistant_ids jsonb`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`
    alter table api_keys drop column name, drop column expires_at, drop column permissions, drop column assistant_ids`);
}
