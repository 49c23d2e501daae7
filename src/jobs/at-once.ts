import { setImmediate as afterThis, setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { newId } from "../database/ids";
import type { BegunJob, JobPlace } from "../ports/ports";
import { freeJobs } from "./lasting-runner";
import { hold, soleName } from "./sole";

/** Jobs at once in this process, beside those that its workers find. */
const MOST = 20;
/** How long is waited for what still runs when the process ends, and until it is tried again to note an end, in milliseconds. */
const PATIENCE = 5_000;
const PAUSE = 1_000;

/**
 * Runs jobs that were begun for it by the statement that asked for them: nobody has to find them first. Each has a
 * worker's id of its own, so that one of which nothing is heard any more is begun anew by whoever finds it.
 */
export class AtOnce {
  private readonly running = new Map<string, Promise<void>>();
  private stopped = false;

  constructor(
    private readonly pool: Pool,
    private readonly perform: (job: BegunJob) => Promise<void>,
    private readonly logger: Logger,
  ) {}

  /** Under which jobs are locked that are seen to. */
  get ids(): string[] {
    return [...this.running.keys()];
  }

  /** Undefined when there is none. */
  place(): JobPlace | undefined {
    if (this.stopped || this.running.size >= MOST) return undefined;
    const worker = `at-once-${newId()}`;
    this.running.set(worker, Promise.resolve());
    return {
      worker,
      take: (job) => void this.running.set(worker, this.run(worker, job)),
      leave: () => void this.running.delete(worker),
    };
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.race([Promise.all(this.running.values()), sleep(PATIENCE, undefined, { ref: false })]);
    if (this.running.size > 0) await freeJobs(this.pool, this.ids).catch(() => undefined);
    this.running.clear();
  }

  private async run(worker: string, job: BegunJob): Promise<void> {
    await afterThis(); // who asked for it is answered first
    const sole = { name: soleName(job.task, job.payload), jobId: job.id, attempt: 1 };
    const failure = await hold(this.pool, sole, () => this.perform(job)).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    await this.note(worker, job, failure);
    this.running.delete(worker);
  }

  /** Until it is noted the job is held: the database may be away for a while. */
  private async note(worker: string, { id }: BegunJob, failure: string | undefined): Promise<void> {
    const own = "where id = $1 and locked_by = $2";
    const [text, values] =
      failure === undefined
        ? [`delete from graphile_worker._private_jobs ${own}`, [id, worker]]
        : [
            `update graphile_worker._private_jobs set locked_at = null, locked_by = null, last_error = $3,
               run_at = now() + interval '1 second' ${own}`,
            [id, worker, failure],
          ];
    for (;;)
      try {
        await this.pool.query(text, values);
        return;
      } catch (error) {
        this.logger.warn({ err: error }, "the end of a job was not noted");
        if (this.stopped) return; // its silence frees it
        await sleep(PAUSE, undefined, { ref: false });
      }
  }
}
