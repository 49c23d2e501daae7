import type { Pool } from "pg";
import { SqlText } from "../database/sql-text";
import type { DueTask, LastingRunner } from "./lasting-runner";

/** Longest delay of a job whose time has come, such as a retry. New jobs start at once, by `NOTIFY`. */
const CHECK_INTERVAL_MS = 1_000;
/** Number of due jobs that are counted; each wakes one worker. */
const MOST = 40;

/**
 * Wakes workers when the time of waiting jobs has come: one statement per second looks for all workers of the process.
 * If each worker looked for itself, an idle server would run 37 statements a second.
 */
export class DueJobs {
  private readonly timer: NodeJS.Timeout;
  private looking: Promise<void> = Promise.resolve();

  constructor(
    private readonly pool: Pool,
    private readonly runners: readonly Pick<LastingRunner, "wake">[],
  ) {
    // Fails if the database is unreachable or a worker has just ended; the next look finds what is due.
    const look = () => (this.looking = this.look().catch(() => undefined));
    this.timer = setInterval(look, CHECK_INTERVAL_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
  }

  private async look(): Promise<void> {
    const { rows } = await this.pool.query<DueTask>(COUNT_DUE.with([MOST]));
    if (rows.length > 0) for (const runner of this.runners) runner.wake(rows);
  }
}

const COUNT_DUE = new SqlText(`
  select task, count(*)::integer as due from (
    select task_identifier as task from graphile_worker.jobs
    where locked_at is null and run_at <= now() and attempts < max_attempts limit $1
  ) as waiting group by task`);
