import type { Pool } from "pg";
import type { Logger } from "pino";
import { newId } from "../platform/database/ids";
import { GIVE_UP_PREFIX } from "../platform/jobs/free-jobs";

/** A job without attempts left. */
interface GivenUpJob {
  readonly id: string;
  readonly task: string;
  readonly payload: unknown;
  readonly lastError: string | null;
}

export interface GivenUpOptions {
  readonly pool: Pool;
  readonly tasks: readonly string[];
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
  /** Worker id of the claims, which the worker's heartbeat keeps alive. */
  readonly id = `${GIVE_UP_PREFIX}${newId()}`;
  private sweeping: Promise<void> | undefined;

  constructor(private readonly options: GivenUpOptions) {}

  /** Ends all such jobs. Never throws: the next sweep finds what this one missed. */
  sweep(): Promise<void> {
    this.sweeping ??= this.sweepAll()
      .catch((error: unknown) => this.options.logger.warn({ err: error }, "jobs were not given up"))
      .finally(() => (this.sweeping = undefined));
    return this.sweeping;
  }

  async stop(): Promise<void> {
    await this.sweeping;
  }

  private async sweepAll(): Promise<void> {
    const tried: string[] = [];
    for (let job = await this.claim(tried); job; job = await this.claim(tried)) {
      tried.push(job.id);
      await this.giveUp(job);
    }
  }

  private async claim(tried: readonly string[]): Promise<GivenUpJob | undefined> {
    const text = `
      update graphile_worker._private_jobs as jobs set locked_at = now(), locked_by = $1
      from graphile_worker._private_tasks as tasks where tasks.id = jobs.task_id and jobs.id = (
        select waiting.id from graphile_worker._private_jobs as waiting
        join graphile_worker._private_tasks as known on known.id = waiting.task_id
        where waiting.locked_at is null and waiting.attempts >= waiting.max_attempts
          and known.identifier = any($2) and waiting.id <> all($3)
        order by waiting.id limit 1 for update of waiting skip locked)
      returning jobs.id, tasks.identifier as task, jobs.payload, jobs.last_error as "lastError"`;
    const { pool, tasks } = this.options;
    const { rows } = await pool.query<GivenUpJob>(text, [this.id, tasks, tried]);
    return rows[0];
  }

  private async giveUp({ id, task, payload, lastError }: GivenUpJob): Promise<void> {
    const { pool, logger, conclude, count } = this.options;
    try {
      await conclude(task, payload);
      logger.error({ task, jobId: id, ...idsIn(payload), reason: lastError }, "a job was given up");
      count(task);
      await pool.query("delete from graphile_worker._private_jobs where id = $1", [id]);
      await pool.query("delete from job_deaths where job_id = $1", [id]);
    } catch (error) {
      logger.error({ err: error, task, jobId: id }, "the consequence of a job that was given up failed");
      const unlock =
        "update graphile_worker._private_jobs set locked_at = null, locked_by = null where id = $1";
      await pool.query(unlock, [id]);
    }
  }
}

/** Only the ids of a payload are logged: the rest may contain personal text. */
const idsIn = (payload: unknown): object =>
  Object.fromEntries(Object.entries(payload ?? {}).filter(([name]) => /[a-z](Id|Sid)$/.test(name)));
