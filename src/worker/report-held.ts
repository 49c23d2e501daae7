import type { Pool } from "pg";
import type { Logger } from "pino";

/** Running jobs, whether a worker of one has missed two heartbeats, and the servers that are connected, this one included. */
const HELD = `
  with held as (
    select locked_by as worker from graphile_worker.jobs where locked_by is not null
    union all select worker from begun_jobs
  )
  select (select count(*) from held)::int as jobs,
    exists (select from held join worker_heartbeats on worker_id = worker
      where seen_at < now() - $1 * interval '1 millisecond') as silent,
    (select count(*) from pg_stat_activity
      where datname = current_database() and application_name like 'parley listener%')::int as servers`;

/** Reports jobs of other servers at startup: after a crash they wait, although no other server runs. */
export async function reportHeld(pool: Pool, takeoverMs: number, logger: Logger): Promise<void> {
  const { rows } = await pool.query<{ jobs: number; silent: boolean; servers: number }>(HELD, [
    takeoverMs / 3,
  ]);
  const { jobs, silent, servers } = rows[0]!;
  if (jobs === 0) return;
  const facts = { jobs, takeoverSeconds: takeoverMs / 1_000 };
  if (servers > 1 && !silent) return logger.info(facts, "other servers run jobs, as usual");
  const message = `jobs of another server have not ended; if it was killed, they continue within ${facts.takeoverSeconds} s`;
  logger.warn(facts, message);
}
