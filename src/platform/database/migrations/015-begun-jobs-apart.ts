import type { Knex } from "knex";
import { down as drop, up as lockAmongOthers } from "./014-begun-jobs";

/**
 * Jobs that a server begins by the statement that asks for them: nobody has to find them first. Of one whose server
 * dies, or that fails, a job to be found is made. Some databases have the table already, of servers between two releases.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table if not exists begun_jobs (
      id bigint generated always as identity primary key, task text not null, payload json not null,
      worker text not null, begun_at timestamptz not null default now()
    )`);
  await drop(db);
  // A job that is begun has the name of its work to itself, under its id with a minus; where another has it, and where
  // there is no worker, it is one to be found. Runs as the owner, as the service has no right on the tables of jobs.
  await db.raw(`
    create function parley_begin(task text, payload json, job_key text, tries integer, worker text) returns bigint
    language plpgsql security definer set search_path = pg_catalog, public as $$
    declare
      begun bigint;
    begin
      if worker is not null then
        insert into public.begun_jobs (task, payload, worker) values (task, payload, worker) returning id into begun;
        insert into public.sole_jobs (name, job_id, attempt) values (task || ' ' || payload, -begun, 1)
          on conflict do nothing;
        if found then return begun; end if;
        delete from public.begun_jobs where id = begun;
      end if;
      perform graphile_worker.add_job(task, payload, max_attempts => tries, job_key => job_key);
      return null;
    end $$`);
}

export async function down(db: Knex): Promise<void> {
  await drop(db);
  await lockAmongOthers(db);
  await db.raw(`drop table begun_jobs`);
}
