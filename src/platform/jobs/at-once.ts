import { setImmediate as afterThis, setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { newId } from "../database/ids";
import { TRIES } from "../database/scope";
import type { BegunJob, JobPlace } from "../ports/ports";
import { Shares } from "./shares";
import { hold, soleName } from "./sole";

/** Jobs at once in this process, beside those that its workers find; half of them for one organization alone. */
const MOST = 48;
/** How long is waited for what still runs when the process ends, and until it is tried again to note an end, in milliseconds. */
const PATIENCE = 5_000;
const PAUSE = 1_000;
/** A statement that began a job was heard of by then, in milliseconds, or never will be: it is cancelled sooner. */
const HEARD = 20_000;

/** Runs jobs that were begun for it by the statement that asked for them. Of those that fail it makes jobs to be found. */
export class AtOnce {
  /** Under which they are begun. */
  readonly id = `at-once-${newId()}`;
  private readonly running = new Map<string, Promise<void>>();
  private readonly shares = new Shares(MOST);
  private stopped = false;

  constructor(
    private readonly pool: Pool,
    private readonly perform: (job: BegunJob) => Promise<void>,
    private readonly logger: Logger,
  ) {}

  /** Undefined when there is none, or the organization holds its share. */
  place(organizationId: string): JobPlace | undefined {
    const leave = this.stopped ? undefined : this.shares.take(organizationId);
    return (
      leave && {
        worker: this.id,
        leave,
        take: (job) => {
          const run = this.run(job).finally(() => {
            leave();
            this.running.delete(job.id);
          });
          this.running.set(job.id, run);
        },
      }
    );
  }

  /** Leaves to others what was begun for it and it never heard of, as when the connection broke behind the commit. */
  async giveUpUnheard(): Promise<void> {
    const unheard = "worker = $1 and id <> all($2) and begun_at < now() - $3 * interval '1 millisecond'";
    await this.pool.query(again(unheard), [this.id, [...this.running.keys()], HEARD]);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.race([Promise.all(this.running.values()), sleep(PATIENCE, undefined, { ref: false })]);
    this.running.clear();
    await requeue(this.pool, [this.id], false).catch(() => undefined); // if it fails, the missing heartbeat does it
  }

  private async run(job: BegunJob): Promise<void> {
    await afterThis(); // who asked for it is answered first
    const sole = { name: soleName(job.task, job.payload), jobId: `-${job.id}`, attempt: 1 };
    const failure = await hold(this.pool, sole, () => this.perform(job)).catch((error: unknown) => ({
      error,
    }));
    if (failure) this.logger.debug({ err: failure.error, task: job.task }, "a job failed");
    const done = `delete from begun_jobs where id = $1`;
    // Until it is noted this server is at it: the database may be away for a while.
    while (!(await this.noted(failure ? again("id = $1") : done, [job.id])) && !this.stopped)
      await sleep(PAUSE, undefined, { ref: false });
  }

  private noted(text: string, values: unknown[]): Promise<boolean> {
    return this.pool.query(text, values).then(
      () => true,
      (error: unknown) => (this.logger.warn({ err: error }, "the end of a job was not noted"), false),
    );
  }
}

/** Requeues jobs that these workers had begun. @param died whether the workers' server died, which is counted */
export async function requeue(pool: Pool, workers: readonly string[], died: boolean): Promise<void> {
  const theirs = "worker = any($1)";
  const counted = `${requeued(theirs)} insert into job_deaths (job_id, deaths) select id, 1 from made`;
  await pool.query(died ? counted : again(theirs), [workers]);
}

const again = (which: string): string => `${requeued(which)} select id from made`;

/** The beginning of a statement: jobs that are made of those that were begun. */
const requeued = (which: string): string => `
  with gone as (delete from begun_jobs where ${which} returning task, payload),
  made as (select job.id from gone, graphile_worker.add_job(task, payload, max_attempts => ${TRIES}) as job)`;
