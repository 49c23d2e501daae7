import { parseCronItems, type ParsedCronItem } from "graphile-worker";
import type { Pool } from "pg";
import type { Logger } from "pino";

const MINUTE_MS = 60_000;
/** Interval of enqueuing next runs; shorter than the shortest period, a minute. */
const CHECK_INTERVAL_MS = 15_000;

/**
 * Enqueues the next run of each periodic task, once for all workers: a waiting job under the task's name as its key. A
 * run that was missed is a job that still waits. The cron of graphile-worker uses the process's clock: a process whose
 * clock is ahead records future times, and other workers enqueue nothing until then.
 */
export class Calendar {
  private readonly items: readonly ParsedCronItem[];
  private timer: NodeJS.Timeout | undefined;
  private checking: Promise<void> = Promise.resolve();

  constructor(
    private readonly pool: Pool,
    periodic: Readonly<Record<string, { readonly at: string }>>,
    private readonly logger: Logger,
  ) {
    this.items = parseCronItems(Object.entries(periodic).map(([task, { at }]) => ({ task, match: at })));
  }

  /** Enqueues the next runs, now and from time to time. */
  start(): Promise<void> {
    this.timer ??= setInterval(() => void this.start(), CHECK_INTERVAL_MS).unref();
    this.checking = this.enqueueNext().catch((error: unknown) =>
      this.logger.warn({ err: error }, "periodic jobs were not enqueued"),
    );
    return this.checking;
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.checking;
  }

  /** A job that waits for a later time was put off by a server with a wrong clock, or by its own retries. */
  private async enqueueNext(): Promise<void> {
    const { rows } = await this.pool.query<{ now: Date }>("select now()");
    const text = `
      select graphile_worker.add_job(task, run_at => due, job_key => task)
      from unnest($1::text[], $2::timestamptz[]) as next (task, due)
      where due > now()
        and not exists (select from graphile_worker.jobs where key = task and locked_at is null and run_at <= due)`;
    const names = this.items.map(({ identifier }) => identifier);
    await this.pool.query(text, [names, this.items.map((item) => nextDue(item, rows[0]!.now))]);
  }
}

/** The first time after `now` at which a task is due. */
function nextDue({ match }: ParsedCronItem, now: Date): Date {
  const thisMinute = now.getTime() - (now.getTime() % MINUTE_MS);
  for (let time = thisMinute + MINUTE_MS; ; time += MINUTE_MS) {
    const at = new Date(time);
    const date = { date: at.getUTCDate(), month: at.getUTCMonth() + 1, dow: at.getUTCDay() };
    if (match({ min: at.getUTCMinutes(), hour: at.getUTCHours(), ...date })) return at;
  }
}
