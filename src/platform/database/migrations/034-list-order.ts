import type { Knex } from "knex";

/** Lists of assistants and files sort by creation time, then id. */
export async function up(db: Knex): Promise<void> {
  await db.raw(
    `create index assistants_by_age on assistants (organization_id, created_at, id) where deleted_at is null`,
  );
  await db.raw(`create index files_by_age on files (organization_id, created_at, id)`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index assistants_by_age, files_by_age`);
}
