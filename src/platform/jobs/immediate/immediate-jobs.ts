import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { newId } from "../../database/values/ids";
import { MAX_ATTEMPTS } from "../../database/enqueue-job";
import type { StartedJob, JobSlot } from "../../ports/ports";
import { SharedSlots } from "../shares";
import { runEntered, soleName } from "../sole";

/** Concurrent immediate jobs of this process, in addition to those of its runners. One organization gets at most half. */
const MAX_JOBS = 48;
/** Time that shutdown waits for running jobs. */
const SHUTDOWN_TIMEOUT_MS = 5_000;
/** Pause before the end of a job is recorded again after the database failed. */
const RETRY_PAUSE_MS = 1_000;
/** After this time a statement that starts a job has answered or been canceled: statement_timeout is shorter. */
const START_TIMEOUT_MS = 20_000;

/** Runs jobs that the requesting statement started for this process, without a queue. Failed jobs go to the queue. */
export class ImmediateJobs {
  /** Worker id stored with the started jobs. */
  readonly id = `at-once-${newId()}`;
  private readonly running = new Map<string, Promise<void>>();
  private readonly shares = new SharedSlots(MAX_JOBS);
  private stopped = false;

  constructor(
    private readonly pool: Pool,
    private readonly perform: (job: StartedJob) => Promise<void>,
    private readonly logger: Logger,
  ) {}

  /** Takes a slot; undefined if the organization already holds its share or the process is shutting down. */
  slot(organizationId: string): JobSlot | undefined {
    const release = this.stopped ? undefined : this.shares.take(organizationId);
    return (
      release && {
        worker: this.id,
        release,
        take: (job) => {
          const run = this.run(job).finally(() => {
            release();
            this.running.delete(job.id);
          });
          this.running.set(job.id, run);
        },
      }
    );
  }

  /** Requeues jobs started for this process whose confirmation was lost, e.g. when the connection broke right after the commit. */
  async requeueUnconfirmed(): Promise<void> {
    const unconfirmed = "worker = $1 and id <> all($2) and begun_at < now() - $3 * interval '1 millisecond'";
    await this.pool.query(requeueStatement(unconfirmed), [
      this.id,
      [...this.running.keys()],
      START_TIMEOUT_MS,
    ]);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    const finished = Promise.all(this.running.values());
    await Promise.race([finished, sleep(SHUTDOWN_TIMEOUT_MS, undefined, { ref: false })]);
    this.running.clear();
    // If this fails, other servers requeue the jobs because of the missing heartbeat.
    await requeue(this.pool, [this.id], false).catch(() => undefined);
  }

  private async run(job: StartedJob): Promise<void> {
    await immediate(); // lets the request that started the job be answered first
    const sole = { name: soleName(job.task, job.payload), jobId: `-${job.id}`, attempt: 1 };
    const failure = await runEntered(this.pool, sole, () => this.perform(job)).catch((error: unknown) => ({
      error,
    }));
    if (failure) this.logger.debug({ err: failure.error, task: job.task }, "a job failed");
    const done = `delete from begun_jobs where id = $1`;
    // The job belongs to this server until its end is recorded; the database may be unreachable for a while.
    while (!(await this.record(failure ? requeueStatement("id = $1") : done, [job.id])) && !this.stopped)
      await sleep(RETRY_PAUSE_MS, undefined, { ref: false });
  }

  private record(text: string, values: unknown[]): Promise<boolean> {
    return this.pool.query(text, values).then(
      () => true,
      (error: unknown) => (this.logger.warn({ err: error }, "the end of a job was not recorded"), false),
    );
  }
}

/** Requeues jobs that these workers had started. @param died whether the workers' server died; deaths are counted */
export async function requeue(pool: Pool, workers: readonly string[], died: boolean): Promise<void> {
  const theirs = "worker = any($1)";
  const counted = `${requeueClauses(theirs)} insert into job_deaths (job_id, deaths) select id, 1 from made`;
  await pool.query(died ? counted : requeueStatement(theirs), [workers]);
}

const requeueStatement = (condition: string): string => `${requeueClauses(condition)} select id from made`;

/** WITH clauses that turn started jobs into queued ones. */
const requeueClauses = (condition: string): string => `
  with gone as (delete from begun_jobs where ${condition} returning task, payload),
  made as (select job.id from gone, graphile_worker.add_job(task, payload, max_attempts => ${MAX_ATTEMPTS}) as job)`;
