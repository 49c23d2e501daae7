import { parseCronItems, type ParsedCronItem } from "graphile-worker";
import type { Pool } from "pg";
import type { Logger } from "pino";

const MINUTE = 60_000;
/** A task that was missed while no worker ran is made up for within this time, in milliseconds. */
const MAKE_UP = 60 * MINUTE;
/** How long is waited when the database did not answer, in milliseconds. */
const PAUSE = 5_000;
/** Timers may fire a little early. */
const MARGIN = 20;

interface Known {
  readonly identifier: string;
  /** When it was last due; when it was first seen if it never was; null if it is new. */
  readonly since: Date | null;
  readonly now: Date;
}

/**
 * Enqueues periodic tasks at their times by the database's clock; of all workers on one database one enqueues each. The
 * library would go by the process's clock: one that is ahead notes times to come, so that no other worker enqueues
 * anything until then, and puts its own jobs off each minute, so that they never run.
 */
export class Calendar {
  private readonly items: ReadonlyMap<string, ParsedCronItem>;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly pool: Pool,
    periodic: Readonly<Record<string, { readonly at: string }>>,
    private readonly logger: Logger,
  ) {
    const items = parseCronItems(Object.entries(periodic).map(([task, { at }]) => ({ task, match: at })));
    this.items = new Map(items.map((item) => [item.identifier, item]));
  }

  /** Enqueues what is due, and then looks every minute. */
  start(): Promise<void> {
    this.looking = this.look();
    return this.looking;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.looking;
  }

  private async look(): Promise<void> {
    const wait = await this.enqueueDue().catch((error: unknown) => {
      this.logger.warn({ err: error }, "periodic jobs were not enqueued");
      return PAUSE;
    });
    if (!this.stopped) this.timer = setTimeout(() => void this.start(), wait).unref();
  }

  /** @returns after how many milliseconds to look again */
  private async enqueueDue(): Promise<number> {
    const known = await this.known();
    for (const { identifier, since, now } of known) {
      const due = since && lastDue(this.items.get(identifier)!, since.getTime(), now.getTime());
      if (due) await this.enqueue(identifier, due);
    }
    return MINUTE - (known[0]!.now.getTime() % MINUTE) + MARGIN;
  }

  private async known(): Promise<Known[]> {
    const text = `
      with noted as (
        insert into graphile_worker._private_known_crontabs (identifier, known_since)
        select identifier, now() from unnest($1::text[]) as identifier on conflict (identifier) do nothing
      )
      select identifier, coalesce(last_execution, known_since) as since, now() as now
      from unnest($1::text[]) as identifier
      left join graphile_worker._private_known_crontabs using (identifier)`;
    return (await this.pool.query<Known>(text, [[...this.items.keys()]])).rows;
  }

  /** Unless another has done so for that time. A time to come was noted by a wrong clock and counts for nothing. */
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

/** The last time that a task was due after `since`, if there was one that is not too long ago. */
function lastDue({ match }: ParsedCronItem, since: number, now: number): Date | undefined {
  const after = since > now ? now - MAKE_UP : Math.max(since, now - MAKE_UP);
  for (let time = now - (now % MINUTE); time > after; time -= MINUTE) {
    const at = new Date(time);
    const date = { date: at.getUTCDate(), month: at.getUTCMonth() + 1, dow: at.getUTCDay() };
    if (match({ min: at.getUTCMinutes(), hour: at.getUTCHours(), ...date })) return at;
  }
  return undefined;
}
