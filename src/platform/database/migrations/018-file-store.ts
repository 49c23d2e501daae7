import type { Knex } from "knex";

/** One row: the name of the place that holds the installation's files, which that place is marked with. */
export async function up(db: Knex): Promise<void> {
  await db.raw(
    `create table file_store (one boolean primary key default true check (one), id text not null)`,
  );
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop table file_store`);
}
