import type { Knex } from "knex";

/**
 * Words of a passage as its language forms them. Passages that were indexed earlier, or by an older server, have
 * neither: they are searched as English. There is no index: a search reads the passages of one assistant's files.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table passages add column language text, add column terms tsvector`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`alter table passages drop column language, drop column terms`);
}
