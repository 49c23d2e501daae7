import type { Pool, PoolClient } from "pg";

/** A job is given up after this many servers died while running it: it may be the cause. */
export const MAX_DEATHS = 20;
/** After more deaths a job pauses before it runs again, so that other jobs of the server can finish first. */
const DEATHS_WITHOUT_PAUSE = 5;
const MAX_PAUSE_SECONDS = 60;

/**
 * Requeues the jobs of these workers without counting the attempt: attempts count failures of the job itself.
 * @param died whether the workers' server died; deaths are counted separately
 */
export async function freeJobs(pool: Pool, workers: readonly string[], died: boolean): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const held = await client.query<{ id: string; attempts: number }>(
      "select id, attempts from graphile_worker.jobs where locked_by = any($1)",
      [workers],
    );
    await client.query("select graphile_worker.force_unlock_workers($1)", [workers]);
    const ids = held.rows.map(({ id }) => id);
    if (died) await countDeaths(client, ids);
    await client.query(REQUEUE, [
      ids,
      held.rows.map(({ attempts }) => attempts),
      died ? DEATHS_WITHOUT_PAUSE : null,
      MAX_PAUSE_SECONDS,
    ]);
    if (died) await client.query(FAIL, [ids, MAX_DEATHS]);
    await client.query("commit");
    client.release();
  } catch (error) {
    client.release(true); // closes the connection, which rolls back
    throw error;
  }
}

const REQUEUE = `
  select from unnest($1::bigint[], $2::integer[]) as held (id, attempts) left join job_deaths on job_id = held.id,
    lateral graphile_worker.reschedule_jobs(array[held.id], attempts => greatest(held.attempts - 1, 0),
      run_at => case when deaths > $3 then now() + least(power(2, deaths - $3 - 1), $4) * interval '1 second' end)`;

const FAIL = `
  select from job_deaths, lateral graphile_worker.permanently_fail_jobs(array[job_id],
    'The server died ' || deaths || ' times during this job.')
  where job_id = any($1) and deaths >= $2`;

async function countDeaths(client: PoolClient, jobs: readonly string[]): Promise<void> {
  const text = `
    insert into job_deaths as known (job_id, deaths) select id, 1 from unnest($1::bigint[]) as id
    on conflict (job_id) do update set deaths = known.deaths + 1`;
  await client.query(text, [jobs]);
  await client.query(
    "delete from job_deaths where not exists (select from graphile_worker.jobs where id = job_id)",
  );
}
