import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { run, type Runner, type RunnerOptions, type WorkerEvents, type WorkerPool } from "graphile-worker";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { freeJobs } from "./free-jobs";

/** Pause before a broken runner is replaced. */
const RESTART_PAUSE_MS = 1_000;
/** After this time the statement that records the end of a job has answered or failed. */
const RECORD_TIMEOUT_MS = 5_000;

/** A task with the number of its due jobs. */
export interface DueTask {
  readonly task: string;
  readonly due: number;
}

/**
 * Runs jobs until it is stopped. A runner of graphile-worker ends permanently if it cannot record the end of a job, for
 * example while the database is unreachable. It is then replaced, and its jobs are requeued when it has ended.
 */
export class LastingRunner {
  /** By worker id, which is also the id that locks their jobs. */
  private readonly running = new Map<string, Runner>();
  private workers: WorkerPool | undefined;
  private stopped = false;

  constructor(
    private readonly options: RunnerOptions,
    private readonly pool: Pool,
    private readonly logger: Logger,
  ) {}

  /** Worker ids of the live runners. */
  get ids(): string[] {
    return [...this.running.keys()];
  }

  async start(): Promise<void> {
    let id = "";
    const events = new EventEmitter() as WorkerEvents;
    events.on("pool:create", ({ workerPool }) => ((this.workers = workerPool), (id = workerPool.id)));
    events.once("pool:gracefulShutdown", () => ((this.workers = undefined), void this.replace()));
    events.on("job:failed", ({ error, job }) =>
      this.logger.error({ err: error, task: job.task_identifier }, "a job failed its last attempt"),
    );
    const workersStopped = allStopped(events);
    const runner = await run({ ...this.options, events });
    this.running.set(id, runner);
    if (this.stopped) void runner.stop();
    const ended = runner.promise.catch((error: unknown) =>
      this.logger.error({ err: error }, "a worker ended"),
    );
    // The runner's promise stays pending if the ends of several jobs could not be recorded.
    const recorded = workersStopped.then(() => sleep(RECORD_TIMEOUT_MS, undefined, { ref: false }));
    void Promise.race([ended, recorded]).then(() => this.remove(id));
  }

  /** Lets an idle worker look for each due job of this runner's tasks now. */
  wake(tasks: readonly DueTask[]): void {
    const own = tasks.filter(({ task }) => Object.hasOwn(this.options.taskList ?? {}, task));
    const due = own.reduce((sum, { due }) => sum + due, 0);
    if (due > 0) this.workers?.nudge(due);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.workers = undefined;
    await Promise.all([...this.running.values()].map((runner) => runner.stop().catch(() => undefined)));
  }

  private async replace(): Promise<void> {
    if (this.stopped) return;
    this.logger.warn({}, "a worker broke and is being replaced");
    while (!this.stopped) {
      await sleep(RESTART_PAUSE_MS, undefined, { ref: false });
      try {
        if (!this.stopped) await this.start();
        return;
      } catch (error) {
        this.logger.warn({ err: error }, "a worker could not be started");
      }
    }
  }

  private async remove(id: string): Promise<void> {
    this.running.delete(id);
    if (this.stopped) return;
    // If this fails, other servers requeue the jobs because of the missing heartbeat.
    await freeJobs(this.pool, [id], false).catch(() => undefined);
  }
}

/** Resolves when all workers of a runner have stopped, which they do once it shuts down and their jobs are done. */
function allStopped(events: WorkerEvents): Promise<void> {
  let live = 0;
  events.on("worker:create", () => live++);
  return new Promise((resolve) => {
    events.on("worker:stop", () => {
      if (--live === 0) resolve();
    });
  });
}
