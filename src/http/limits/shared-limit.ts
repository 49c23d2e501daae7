/** The points of a key in a window. */
interface Count {
  used: number;
  /** Points that were not announced to other servers yet. */
  unshared: number;
  /** End of the window, by `performance.now()`. */
  endsAt: number;
}

/** The outcome of a request for points. */
export interface Consumption {
  readonly admitted: boolean;
  readonly remainingPoints: number;
  /** Until the window ends; if the request was not admitted, until the points are free. */
  readonly msBeforeNext: number;
}

/** Whole milliseconds, so that the rest of a window is never longer than the window. */
const wholeMs = () => Math.floor(performance.now());

/** Part of a limit from which other servers learn of its use. */
const SHARED_PART = 1 / 50;

/**
 * Limits points per key and window, which begins with the first point. Counts in memory, and adds what other servers
 * admit. Servers that admit more than the limit together, before they hear of each other, admit less in the next
 * windows.
 */
export class SharedLimit {
  private readonly counts = new Map<string, Count>();
  private readonly durationMs: number;
  private readonly leastShared: number;
  private sweeper: NodeJS.Timeout | undefined;

  /**
   * @param duration of a window, in seconds
   * @param share announces points to other servers
   */
  constructor(
    readonly points: number,
    readonly duration: number,
    private readonly share: (key: string, points: number) => void = () => undefined,
  ) {
    this.durationMs = duration * 1_000;
    this.leastShared = points * SHARED_PART;
  }

  /** Takes points unless the window has too few. */
  consume(key: string, points = 1): Consumption {
    const now = wholeMs();
    const count = this.countOf(key, now);
    const excess = count.used + points - this.points;
    if (excess > 0) {
      const windows = Math.ceil(excess / this.points) - 1;
      const msBeforeNext = count.endsAt - now + windows * this.durationMs;
      return { admitted: false, remainingPoints: 0, msBeforeNext };
    }
    count.used += points;
    count.unshared += points;
    if (count.unshared >= this.leastShared) {
      this.share(key, count.unshared);
      count.unshared = 0;
    }
    return { admitted: true, remainingPoints: -excess, msBeforeNext: count.endsAt - now };
  }

  /** Adds points that another server has admitted. */
  add(key: string, points: number): void {
    this.countOf(key, wholeMs()).used += points;
  }

  /** The count of the current window. What an earlier window has admitted beyond the limit counts in the next. */
  private countOf(key: string, now: number): Count {
    let count = this.counts.get(key);
    if (!count) {
      count = { used: 0, unshared: 0, endsAt: now + this.durationMs };
      this.counts.set(key, count);
      this.sweeper ??= setInterval(() => this.sweep(), this.durationMs).unref();
    } else if (count.endsAt <= now) {
      const windows = Math.floor((now - count.endsAt) / this.durationMs) + 1;
      const excess = Math.max(count.used - windows * this.points, 0);
      count.endsAt = excess > 0 ? count.endsAt + windows * this.durationMs : now + this.durationMs;
      count.used = excess;
      count.unshared = 0;
    }
    return count;
  }

  /** Forgets the keys whose windows have ended; runs only while there are any. */
  private sweep(): void {
    const now = wholeMs();
    for (const [key, { used, endsAt }] of this.counts) {
      const windows = Math.max(Math.ceil(used / this.points) - 1, 0);
      if (endsAt + windows * this.durationMs <= now) this.counts.delete(key);
    }
    if (this.counts.size > 0) return;
    clearInterval(this.sweeper);
    this.sweeper = undefined;
  }
}
