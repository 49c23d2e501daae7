import { seeded } from "../../support/seeded";

/** A step of an operation: service time on a core of a server or of the database, or a wait, in ms. */
interface Step {
  readonly at: "server" | "database" | "elsewhere";
  readonly ms: number;
}

/** A kind of operation: how many begin in a second, and their steps with mean durations. */
export interface Kind {
  readonly perSecond: number;
  readonly steps: readonly Step[];
}

export interface Installation {
  /** Server processes of one core each. */
  readonly servers: number;
  readonly databaseCores: number;
}

export interface Simulated {
  /** Shares of the time in which the cores work. */
  readonly server: number;
  readonly database: number;
  /** Duration of the operations without their waits elsewhere, in ms. */
  readonly median: number;
  readonly p99: number;
}

/** Operations of the first kind that are simulated. */
const OPERATIONS = 20_000;
/** Part of the time, in which queues build up, that is not counted. */
const WARM_UP = 0.1;

interface Entry {
  readonly at: number;
  readonly run: () => void;
}

/** A clock that runs what is due, in its order: a binary heap. */
class Clock {
  now = 0;
  private readonly heap: Entry[] = [];

  after(ms: number, run: () => void): void {
    const { heap } = this;
    let place = heap.push({ at: this.now + ms, run }) - 1;
    for (let above = parent(place); place > 0 && heap[above]!.at > heap[place]!.at; above = parent(place)) {
      this.swap(place, above);
      place = above;
    }
  }

  runUntil(end: number): void {
    for (let first = this.take(); first && first.at <= end; first = this.take()) {
      this.now = first.at;
      first.run();
    }
  }

  private take(): Entry | undefined {
    const { heap } = this;
    if (heap.length > 1) this.swap(0, heap.length - 1);
    const first = heap.pop();
    for (let place = 0, least = place; ; place = least) {
      for (const below of [2 * place + 1, 2 * place + 2])
        if (below < heap.length && heap[below]!.at < heap[least]!.at) least = below;
      if (least === place) return first;
      this.swap(place, least);
    }
  }

  private swap(one: number, other: number): void {
    [this.heap[one], this.heap[other]] = [this.heap[other]!, this.heap[one]!];
  }
}

const parent = (place: number) => (place - 1) >> 1;

/** Cores that share a queue: first come, first served. */
class Cores {
  busyMs = 0;
  private readonly queue: (() => void)[] = [];

  constructor(
    private readonly clock: Clock,
    private free: number,
  ) {}

  serve(ms: number, then: () => void): void {
    const begin = () => {
      this.free--;
      this.busyMs += ms;
      this.clock.after(ms, () => {
        this.free++;
        this.queue.shift()?.();
        then();
      });
    };
    if (this.free > 0) begin();
    else this.queue.push(begin);
  }
}

/** Simulates an installation: operations begin independently of each other, and service times vary exponentially. */
export function simulate(kinds: readonly Kind[], { servers, databaseCores }: Installation): Simulated {
  const duration = (1_000 * OPERATIONS) / kinds[0]!.perSecond;
  const random = seeded(1);
  const about = (mean: number) => -mean * Math.log(1 - random());
  const clock = new Clock();
  const database = new Cores(clock, databaseCores);
  const each = Array.from({ length: servers }, () => new Cores(clock, 1));
  const taken: number[] = [];
  const run = (server: Cores, [step, ...rest]: readonly Step[], began: number, away: number): void => {
    if (!step) return void (began >= WARM_UP * duration && taken.push(clock.now - began - away));
    const ms = about(step.ms);
    const next = () => run(server, rest, began, away + (step.at === "elsewhere" ? ms : 0));
    if (step.at === "elsewhere") clock.after(ms, next);
    else (step.at === "server" ? server : database).serve(ms, next);
  };
  for (const { perSecond, steps } of kinds) {
    const begin = () => {
      run(each[Math.floor(random() * servers)]!, steps, clock.now, 0);
      clock.after(about(1_000 / perSecond), begin);
    };
    clock.after(about(1_000 / perSecond), begin);
  }
  clock.runUntil(duration);
  taken.sort((a, b) => a - b);
  const part = (share: number) => taken[Math.floor(taken.length * share)] ?? Infinity;
  const busy = each.reduce((sum, { busyMs }) => sum + busyMs, 0);
  return {
    server: busy / servers / duration,
    database: database.busyMs / databaseCores / duration,
    median: part(0.5),
    p99: part(0.99),
  };
}
