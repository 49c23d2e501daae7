import type { Knex } from "knex";

/**
 * Which job runs alone under a name. Nothing of it has to outlast a crash of the database, after which every job is
 * begun anew, so that it costs no write to the log.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(
    `create unlogged table sole_jobs (
       name text primary key, job_id bigint not null, attempt integer not null, again boolean not null default false
     )`,
  );
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop table sole_jobs`);
}
