import type { Pool } from "pg";
import { SqlText } from "../database/values/sql-text";
import { Lookout } from "../lookout";
import type { DueTask, LastingRunner } from "./lasting-runner";

/** Longest delay of a job whose time has come, such as a retry. New jobs start at once, by `NOTIFY`. */
const PAUSE_MS = 1_000;
/** The same after a minute without such jobs. */
const QUIET_PAUSE_MS = 3_000;
/** Number of due jobs that are counted; each wakes one worker. */
const MOST = 40;

/**
 * Wakes workers when the time of waiting jobs has come: one statement looks for all workers of the process. If
 * each worker looked for itself, an idle server would run 37 statements a second.
 */
export class DueJobs {
  private readonly lookout = new Lookout({
    look: () => this.look(),
    ...{ pauseMs: PAUSE_MS, quietPauseMs: QUIET_PAUSE_MS },
    failed: () => undefined, // the database is unreachable or a worker has just ended; the next look finds what is due
  });

  constructor(
    private readonly pool: Pool,
    private readonly runners: readonly Pick<LastingRunner, "wake">[],
  ) {}

  async stop(): Promise<void> {
    await this.lookout.stop();
  }

  private async look(): Promise<boolean> {
    const { rows } = await this.pool.query<DueTask>(COUNT_DUE.with([MOST]));
    if (rows.length > 0) for (const runner of this.runners) runner.wake(rows);
    return rows.length > 0;
  }
}

const COUNT_DUE = new SqlText(`
  select task, count(*)::integer as due from (
    select task_identifier as task from graphile_worker.jobs
    where locked_at is null and run_at <= now() and attempts < max_attempts limit $1
  ) as waiting group by task`);
