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
  // Each chat had a queue of the library before, and every search for a job of another queue locks all of them.
  await db.raw(`
    do $$ begin
      if to_regclass('graphile_worker._private_job_queues') is not null then
        delete from graphile_worker._private_job_queues queue where locked_at is null
          and not exists (select from graphile_worker._private_jobs job where job.job_queue_id = queue.id);
      end if;
    end $$`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop table sole_jobs`);
}
