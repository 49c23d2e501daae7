import type { Knex } from "knex";

/** How often a job is begun is up to whoever enqueues it. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`drop function parley_enqueue(text, json, text, timestamptz, text)`);
  await db.raw(`
    create function parley_enqueue(
      task text, payload json, queue text, run_at timestamptz, job_key text, tries integer default 3
    ) returns void
    language plpgsql security definer set search_path = pg_catalog, public as $$
    begin
      perform graphile_worker.add_job(task, payload, queue_name => queue, run_at => run_at, max_attempts => tries, job_key => job_key);
    end $$`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_enqueue(text, json, text, timestamptz, text, integer)`);
  await db.raw(`
    create function parley_enqueue(task text, payload json, queue text, run_at timestamptz, job_key text) returns void
    language plpgsql security definer set search_path = pg_catalog, public as $$
    begin
      perform graphile_worker.add_job(task, payload, queue_name => queue, run_at => run_at, max_attempts => 3, job_key => job_key);
    end $$`);
}
