import type { Pool } from "pg";
import { SqlText } from "../database/values/sql-text";

/** A running job and the name under which it runs alone. */
export interface SoleJob {
  readonly name: string;
  readonly jobId: string;
  readonly attempt: number;
}

/**
 * Result of trying to take a name. `entered`: this job has it. `left`: the job that has it will repeat the work. `later`: the
 * job that has it is on its last attempt, so nobody would repeat the work if that attempt died.
 */
export type Entry = "entered" | "left" | "later";

/**
 * Runs work once at a time per name, across processes. A request that arrives in the meantime causes one more run.
 * No worker waits for another, and no database lock is held. Named queues of graphile-worker are no alternative: every
 * worker that looks for a job locks all queues, and workers that look at the same time find nothing.
 * @returns `later` if the work was not done and has to be requested again
 */
export async function runAlone(pool: Pool, job: SoleJob, work: () => Promise<void>): Promise<Entry> {
  const entry = await enter(pool, job);
  if (entry === "entered") await runEntered(pool, job, work);
  return entry;
}

/** Does the work of a job that already has its name, repeats it while requested, and gives the name up. */
export async function runEntered(pool: Pool, job: SoleJob, work: () => Promise<void>): Promise<void> {
  for (;;) {
    const failure = await work().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (!(await leave(pool, job))) continue;
    if (failure) throw failure.error;
    return;
  }
}

const ENTER = new SqlText(`
  insert into sole_jobs as held (name, job_id, attempt) values ($1, $2, $3)
  on conflict (name) do update set (job_id, attempt, again) = (
    select coalesce(holder.id, excluded.job_id), case when holder.id is null then excluded.attempt else held.attempt end,
      coalesce(holder.attempts < holder.max_attempts, false)
    from (select) as one left join (
      select id, attempts, max_attempts, locked_at from graphile_worker.jobs
      union all select -id, 1, 2, begun_at from begun_jobs
    ) as holder on holder.id = held.job_id
      and holder.id <> excluded.job_id and (holder.locked_at is not null or holder.attempts < holder.max_attempts))
  returning case when job_id = $2 then 'entered' when again then 'left' else 'later' end as entry`);

/** A job keeps its name until it finishes or has no attempts left, even while it waits for another worker. */
async function enter(pool: Pool, { name, jobId, attempt }: SoleJob): Promise<Entry> {
  const { rows } = await pool.query<{ entry: Entry }>(ENTER.with([name, jobId, attempt]));
  return rows[0]!.entry; // always present: the statement inserts or updates
}

const HELD = "where name = $1 and job_id = $2 and attempt = $3";
const LEAVE = new SqlText(`delete from sole_jobs ${HELD} and not again`);

/** Gives up the name unless the work was requested again. @returns false if the work has to be repeated */
async function leave(pool: Pool, { name, jobId, attempt }: SoleJob): Promise<boolean> {
  const values = [name, jobId, attempt];
  const { rowCount } = await pool.query(LEAVE.with(values));
  if (rowCount !== 0) return true;
  const again = await pool.query(`update sole_jobs set again = false ${HELD}`, values);
  return again.rowCount === 0; // another worker presumed this one dead and took the name
}

/** Name under which a job runs alone: its task and payload. The database builds the same name for jobs that it starts. */
export const soleName = (task: string, payload: unknown): string => `${task} ${JSON.stringify(payload)}`;
