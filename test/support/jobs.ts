import type { TestDatabase } from "./database";

/** A waiting job, or one that was given up. */
export interface WaitingJob {
  readonly id: string;
  readonly task: string;
  readonly payload: Record<string, string>;
  readonly key: string | null;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly runAt: Date;
}

type Database = Pick<TestDatabase, "query">;

/** Jobs that no worker has taken, in order: all, or those of a task whose payload has these values. */
export const waitingJobs = (database: Database, task?: string, has: object = {}): Promise<WaitingJob[]> =>
  database.query<WaitingJob>(
    // This function returns payloads and leaves the job unchanged.
    `select job.id, task_identifier as task, payload, job.key, job.attempts, job.max_attempts as "maxAttempts", job.run_at as "runAt"
     from graphile_worker.jobs job, lateral graphile_worker.reschedule_jobs(array[job.id]) as whole
     where coalesce(task_identifier = $1, true) and payload::jsonb @> $2 order by job.id`,
    [task, has],
  );

/** Removes every job that no worker has taken. */
export const removeJobs = (database: Database): Promise<unknown> =>
  database.query("select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))");

/** Makes waiting jobs due after a pause, except the next runs of periodic tasks, whose key is the task's name. */
export const reschedule = (database: Database, pause: string, condition = "true"): Promise<unknown> =>
  database.query(
    `select graphile_worker.reschedule_jobs(array(
       select id from graphile_worker.jobs where key is distinct from task_identifier and ${condition}),
       run_at => now() + $1::interval)`,
    [pause],
  );

/** Makes waiting jobs due now. */
export const runNow = (database: Database, condition = "true"): Promise<unknown> =>
  reschedule(database, "0", condition);

// graphile-worker has no public functions for the following; only this file names its tables.

/** The table of jobs in the schema graphile_worker. */
export const JOBS_TABLE = "_private_jobs";

/** Takes a job as a worker does. */
export const takeJob = (database: Database, id: string, worker: string): Promise<unknown> =>
  database.query(
    "update graphile_worker._private_jobs set attempts = attempts + 1, locked_at = now(), locked_by = $2 where id = $1",
    [id, worker],
  );

/** Makes recording the failure of a job fail. @returns a function that undoes this */
export async function refuseFailures({ query }: Database): Promise<() => Promise<unknown>> {
  await query(`create function refuse_failure() returns trigger language plpgsql as $$
    begin raise 'the failure is not recorded'; end $$`);
  await query(`create trigger refuse_failure before update on graphile_worker._private_jobs for each row
    when (old.last_error is distinct from new.last_error) execute function refuse_failure()`);
  return () => query("drop function refuse_failure cascade");
}
