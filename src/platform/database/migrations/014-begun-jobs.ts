import type { Knex } from "knex";

/**
 * A job that is begun by the statement that asks for it: locked for the worker who asks, as if that had found it, unless
 * another job is at the same work. Without a worker it is one to be found. Runs as the owner of the tables of jobs.
 * @returns the job's id when it was begun
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create function parley_begin(task text, payload json, job_key text, tries integer, worker text) returns bigint
    language plpgsql security definer set search_path = pg_catalog, public as $$
    declare
      job bigint;
    begin
      job := (graphile_worker.add_job(task, payload, max_attempts => tries, job_key => job_key)).id;
      if worker is null then return null; end if;
      insert into public.sole_jobs (name, job_id, attempt) values (task || ' ' || payload, job, 1) on conflict do nothing;
      if not found then return null; end if;
      update graphile_worker._private_jobs set attempts = 1, locked_at = now(), locked_by = worker where id = job;
      return job;
    end $$`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_begin(text, json, text, integer, text)`);
}
