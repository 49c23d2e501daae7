import type { Knex } from "knex";

/** In a new database, the job that stores first versions of assistants from before versions were kept has nothing to do. */
export async function up(db: Knex): Promise<void> {
  await db.raw(
    `insert into online_steps (name, done_at) select 'first_versions', now() where not exists (select from organizations)
     on conflict do nothing`,
  );
}

/** The job's note of its end stays: all assistants of this database have versions or store their own. */
export async function down(): Promise<void> {}
