import { parseCronItems, type ParsedCronItem } from "graphile-worker";
import type { Pool } from "pg";
import type { Logger } from "pino";

const MINUTE_MS = 60_000;
/** A run that was missed while no worker was running is made up for during this time. */
const CATCH_UP_MS = 60 * MINUTE_MS;
/** Pause after the database did not answer. */
const RETRY_PAUSE_MS = 5_000;
/** Added to each wait because timers may fire slightly early. */
const MARGIN_MS = 20;

interface PeriodicTaskState {
  readonly identifier: string;
  /** Time of its last run, or of its registration if it never ran; null if it is being registered now. */
  readonly since: Date | null;
  readonly now: Date;
}

/**
 * Enqueues periodic tasks at their times by the database's clock, each by exactly one of the workers. The cron of
 * graphile-worker uses the process's clock: a process whose clock is ahead records future times, so other workers
 * enqueue nothing until then, and it postpones its own jobs every minute, so that they never run.
 */
export class Calendar {
  private readonly items: ReadonlyMap<string, ParsedCronItem>;
  private timer: NodeJS.Timeout | undefined;
  private checking: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly pool: Pool,
    periodic: Readonly<Record<string, { readonly at: string }>>,
    private readonly logger: Logger,
  ) {
    const items = parseCronItems(Object.entries(periodic).map(([task, { at }]) => ({ task, match: at })));
    this.items = new Map(items.map((item) => [item.identifier, item]));
  }

  /** Enqueues the tasks that are due, now and then every minute. */
  start(): Promise<void> {
    this.checking = this.check();
    return this.checking;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.checking;
  }

  private async check(): Promise<void> {
    const wait = await this.enqueueDue().catch((error: unknown) => {
      this.logger.warn({ err: error }, "periodic jobs were not enqueued");
      return RETRY_PAUSE_MS;
    });
    if (!this.stopped) this.timer = setTimeout(() => void this.start(), wait).unref();
  }

  /** @returns milliseconds until the next check */
  private async enqueueDue(): Promise<number> {
    const states = await this.register();
    for (const { identifier, since, now } of states) {
      const due = since && lastDue(this.items.get(identifier)!, since.getTime(), now.getTime());
      if (due) await this.enqueue(identifier, due);
    }
    return MINUTE_MS - (states[0]!.now.getTime() % MINUTE_MS) + MARGIN_MS;
  }

  /** Registers new tasks. @returns the state of all tasks, at least one */
  private async register(): Promise<PeriodicTaskState[]> {
    const text = `
      with noted as (
        insert into graphile_worker._private_known_crontabs (identifier, known_since)
        select identifier, now() from unnest($1::text[]) as identifier on conflict (identifier) do nothing
      )
      select identifier, coalesce(last_execution, known_since) as since, now() as now
      from unnest($1::text[]) as identifier
      left join graphile_worker._private_known_crontabs using (identifier)`;
    return (await this.pool.query<PeriodicTaskState>(text, [[...this.items.keys()]])).rows;
  }

  /** Enqueues a task unless another worker has done so for that time. A recorded time in the future came from a wrong clock and is ignored. */
  private async enqueue(identifier: string, due: Date): Promise<void> {
    const text = `
      with taken as (
        update graphile_worker._private_known_crontabs set last_execution = $2
        where identifier = $1 and (last_execution is null or last_execution < $2 or last_execution > now())
        returning identifier
      )
      select graphile_worker.add_job(identifier, job_key => identifier) from taken`;
    await this.pool.query(text, [identifier, due]);
  }
}

/** The last time after `since` at which a task was due, if within CATCH_UP_MS. Times are in ms since 1970. */
function lastDue({ match }: ParsedCronItem, since: number, now: number): Date | undefined {
  const after = since > now ? now - CATCH_UP_MS : Math.max(since, now - CATCH_UP_MS);
  for (let time = now - (now % MINUTE_MS); time > after; time -= MINUTE_MS) {
    const at = new Date(time);
    const date = { date: at.getUTCDate(), month: at.getUTCMonth() + 1, dow: at.getUTCDay() };
    if (match({ min: at.getUTCMinutes(), hour: at.getUTCHours(), ...date })) return at;
  }
  return undefined;
}
