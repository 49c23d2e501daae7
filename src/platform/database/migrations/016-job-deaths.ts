import type { Knex } from "knex";

/** How often the server of a waiting job died. Attempts count failures of the job alone. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`create table job_deaths (job_id bigint primary key, deaths integer not null)`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop table job_deaths`);
}
