import type { Pool } from "pg";
import type { Logger } from "pino";

/** A job without attempts left. */
interface GivenUpJob {
  readonly id: string;
  readonly task: string;
  readonly lastError: string | null;
  /** A failed run of a periodic task that has no attempts left because the next run is enqueued. */
  readonly superseded: boolean;
}

export interface GivenUpOptions {
  readonly pool: Pool;
  readonly tasks: readonly string[];
  readonly periodic: readonly string[];
  /** Stores the consequence of a job that was given up, such as an apology. It may run more than once. */
  readonly conclude: (task: string, payload: unknown) => Promise<void>;
  /** Counts jobs that were given up. */
  readonly count: (task: string) => void;
  readonly logger: Logger;
}

/**
 * Ends jobs of all servers that have no attempts left: stores their consequence, logs an error and counts them. A job is
 * removed only after its consequence is stored; if that fails, a later sweep tries again.
 */
export class GivenUp {
  private sweeping: Promise<void> | undefined;

  constructor(private readonly options: GivenUpOptions) {}

  /** Ends all such jobs. Never throws: the next sweep finds what this one missed. */
  sweep(): Promise<void> {
    this.sweeping ??= this.sweepAll()
      .catch((error: unknown) =>
        this.options.logger.warn({ err: error }, "jobs without attempts left could not be concluded"),
      )
      .finally(() => (this.sweeping = undefined));
    return this.sweeping;
  }

  async stop(): Promise<void> {
    await this.sweeping;
  }

  private async sweepAll(): Promise<void> {
    const text = `
      select id, task_identifier as task, last_error as "lastError", key is null and task_identifier = any($2)
        and not exists (select from job_deaths where job_id = id) as superseded
      from graphile_worker.jobs
      where locked_at is null and attempts >= max_attempts and task_identifier = any($1 || $2) order by id`;
    const { pool, tasks, periodic } = this.options;
    const { rows } = await pool.query<GivenUpJob>(text, [tasks, periodic]);
    for (const job of rows) await this.alone(job.id, () => this.giveUp(job));
  }

  /** Does the work unless another server is doing it for the same job. The lock ends with the connection. */
  private async alone(id: string, work: () => Promise<void>): Promise<void> {
    const client = await this.options.pool.connect();
    try {
      await client.query("begin");
      const lock = "select pg_try_advisory_xact_lock(hashtextextended('job given up ' || $1, 0)) as taken";
      const { rows } = await client.query<{ taken: boolean }>(lock, [id]);
      if (rows[0]!.taken) await work();
      await client.query("commit");
      client.release();
    } catch (error) {
      client.release(true); // closes the connection, which ends the lock
      throw error;
    }
  }

  private async giveUp({ id, task, lastError, superseded }: GivenUpJob): Promise<void> {
    const { pool, logger, conclude, count } = this.options;
    try {
      // Changes nothing: of the functions that return payloads this one leaves the job as it is.
      const { rows } = await pool.query<{ payload: unknown }>(
        "select payload from graphile_worker.reschedule_jobs(array[$1::bigint]) where attempts >= max_attempts",
        [id],
      );
      if (!rows[0]) return; // another server has ended it
      const { payload } = rows[0];
      await conclude(task, payload);
      if (superseded)
        logger.warn(
          { task, jobId: id, reason: lastError },
          "a run of a periodic task failed; the next is enqueued",
        );
      else {
        logger.error({ task, jobId: id, ...idsIn(payload), reason: lastError }, "a job was given up");
        count(task);
      }
      await pool.query("select graphile_worker.complete_jobs(array[$1::bigint])", [id]);
      await pool.query("delete from job_deaths where job_id = $1", [id]);
    } catch (error) {
      logger.error(
        { err: error, task, jobId: id },
        "the failure of a job that was given up could not be stored",
      );
    }
  }
}

/** Only the ids of a payload are logged: the rest may contain personal text. */
export const idsIn = (payload: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries((payload ?? {}) as Record<string, string>).filter(([name]) => /[a-z](Id|Sid)$/.test(name)),
  );
