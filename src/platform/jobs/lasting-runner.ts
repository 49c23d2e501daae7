import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { run, type Runner, type RunnerOptions, type WorkerEvents } from "graphile-worker";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { freeJobs } from "./free-jobs";

/** How long is waited before a runner that broke is followed by another, in milliseconds. */
const PAUSE = 1_000;

/**
 * Runs jobs until it is stopped. A runner of the library ends for good when the end of a job can't be noted, as while
 * the database is away: another follows it, and what the first one held is freed when it is over.
 */
export class LastingRunner {
  /** By its id, under which it locks jobs. */
  private readonly running = new Map<string, Runner>();
  private stopped = false;

  constructor(
    private readonly options: RunnerOptions,
    private readonly pool: Pool,
    private readonly logger: Logger,
  ) {}

  /** Under which jobs are locked that are seen to. */
  get ids(): string[] {
    return [...this.running.keys()];
  }

  async start(): Promise<void> {
    let id = "";
    const events = new EventEmitter() as WorkerEvents;
    events.on("pool:create", ({ workerPool }) => (id = workerPool.id));
    events.once("pool:gracefulShutdown", () => void this.follow());
    events.on("job:failed", ({ error, job }) =>
      this.logger.error({ err: error, task: job.task_identifier }, "a job failed its last attempt"),
    );
    const runner = await run({ ...this.options, events });
    this.running.set(id, runner);
    if (this.stopped) void runner.stop();
    void runner.promise
      .catch((error: unknown) => this.logger.error({ err: error }, "a worker ended"))
      .then(() => this.over(id));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all([...this.running.values()].map((runner) => runner.stop().catch(() => undefined)));
  }

  private async follow(): Promise<void> {
    if (this.stopped) return;
    this.logger.warn({}, "a worker broke and another follows");
    while (!this.stopped) {
      await sleep(PAUSE, undefined, { ref: false });
      try {
        if (!this.stopped) await this.start();
        return;
      } catch (error) {
        this.logger.warn({ err: error }, "a worker could not be started");
      }
    }
  }

  private async over(id: string): Promise<void> {
    this.running.delete(id);
    if (this.stopped) return;
    // If this fails, the missing heartbeat frees them.
    await freeJobs(this.pool, [id], false).catch(() => undefined);
  }
}
