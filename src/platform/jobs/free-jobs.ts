import type { Pool, PoolClient } from "pg";

/** A job is given up after this many servers died while running it: it may be the cause. */
export const MAX_DEATHS = 20;
/** After more deaths a job pauses before it runs again, so that other jobs of the server can finish first. */
const DEATHS_WITHOUT_PAUSE = 5;
const MAX_PAUSE_SECONDS = 60;

/** Prefix of the worker ids that carry out the consequences of jobs that were given up. */
export const GIVE_UP_PREFIX = "give-up-";

/**
 * Requeues the jobs of these workers without counting the attempt: attempts count failures of the job itself.
 * @param died whether the workers' server died; deaths are counted separately
 */
export async function freeJobs(pool: Pool, workers: readonly string[], died: boolean): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await (died ? countDeaths(client, workers) : giveBack(client, workers));
    await client.query("select graphile_worker.force_unlock_workers($1)", [workers]);
    await client.query("commit");
    client.release();
  } catch (error) {
    client.release(true); // closes the connection, which rolls back
    throw error;
  }
}

const HELD = `locked_by = any($1) and not starts_with(locked_by, '${GIVE_UP_PREFIX}')`;

async function giveBack(client: PoolClient, workers: readonly string[]): Promise<void> {
  const text = `update graphile_worker._private_jobs set attempts = greatest(attempts - 1, 0) where ${HELD}`;
  await client.query(text, [workers]);
}

async function countDeaths(client: PoolClient, workers: readonly string[]): Promise<void> {
  const text = `
    with held as (select id from graphile_worker._private_jobs where ${HELD} for update),
    counted as (
      insert into job_deaths as known (job_id, deaths) select id, 1 from held
      on conflict (job_id) do update set deaths = known.deaths + 1 returning job_id, deaths
    )
    update graphile_worker._private_jobs as jobs set
      attempts = case when deaths < $2 then greatest(attempts - 1, 0) else greatest(attempts, max_attempts) end,
      last_error = case when deaths < $2 then last_error else 'The server died ' || deaths || ' times during this job.' end,
      run_at = case when deaths <= $3 then run_at else now() + least(power(2, deaths - $3 - 1), $4) * interval '1 second' end
    from counted where jobs.id = job_id`;
  await client.query(text, [workers, MAX_DEATHS, DEATHS_WITHOUT_PAUSE, MAX_PAUSE_SECONDS]);
  await client.query(
    "delete from job_deaths where not exists (select from graphile_worker._private_jobs where id = job_id)",
  );
}
