import type { Pool } from "pg";

/** A job that is run, and what it is alone under. */
export interface SoleJob {
  readonly name: string;
  readonly jobId: string;
  readonly attempt: number;
}

/** `left`: the job that runs does the work once more. `later`: nobody would, should that die. */
export type Entry = "entered" | "left" | "later";

/**
 * Does work of which everything that is asked for under one name is the same: one at a time, in all processes, and
 * once more when it was asked for meanwhile. A worker never waits for another here, nor does the database hold a lock.
 * Named queues of the library would do, but each worker that looks for a job locks all of them while it looks, and
 * who looks at that moment finds nothing.
 * @returns `later` when it was not done and is to be asked for again
 */
export async function alone(pool: Pool, job: SoleJob, work: () => Promise<void>): Promise<Entry> {
  const entry = await enter(pool, job);
  if (entry === "entered") await hold(pool, job, work);
  return entry;
}

/** The same for a job that has entered: it does the work, and leaves. */
export async function hold(pool: Pool, job: SoleJob, work: () => Promise<void>): Promise<void> {
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

/** A job that holds the name holds it until it leaves, or can't come back: also while its worker is dead and it waits for another. */
async function enter(pool: Pool, { name, jobId, attempt }: SoleJob): Promise<Entry> {
  const text = `
    insert into sole_jobs as held (name, job_id, attempt) values ($1, $2, $3)
    on conflict (name) do update set (job_id, attempt, again) = (
      select coalesce(holder.id, excluded.job_id), case when holder.id is null then excluded.attempt else held.attempt end,
        coalesce(holder.attempts < holder.max_attempts, false)
      from (select) as one left join (
        select id, attempts, max_attempts, locked_at from graphile_worker.jobs
        union all select -id, 1, 2, begun_at from begun_jobs
      ) as holder on holder.id = held.job_id
        and holder.id <> excluded.job_id and (holder.locked_at is not null or holder.attempts < holder.max_attempts))
    returning case when job_id = $2 then 'entered' when again then 'left' else 'later' end as entry`;
  const { rows } = await pool.query<{ entry: Entry }>({
    name: "sole.enter",
    text,
    values: [name, jobId, attempt],
  });
  return rows[0]!.entry; // it inserts or it updates
}

/** @returns false when the work is to be done once more */
async function leave(pool: Pool, { name, jobId, attempt }: SoleJob): Promise<boolean> {
  const values = [name, jobId, attempt];
  const held = "where name = $1 and job_id = $2 and attempt = $3";
  const text = `delete from sole_jobs ${held} and not again`;
  const { rowCount } = await pool.query({ name: "sole.leave", text, values });
  if (rowCount !== 0) return true;
  const again = await pool.query(`update sole_jobs set again = false ${held}`, values);
  return again.rowCount === 0; // another worker took this one for dead and has the name
}

/** What a job is alone under: its task, and what it is told. The database knows it too, of jobs that it begins. */
export const soleName = (task: string, payload: unknown): string => `${task} ${JSON.stringify(payload)}`;
