import { LRUCache } from "lru-cache";

/** Failures of the same kind are logged once in this time. */
const LOG_INTERVAL_MS = 60_000;
/** Maximum number of kinds that are counted. */
const MAX_REMEMBERED = 1_000;

/** Decides which of many failures of the same kind is logged: at most one per minute, with the number since then. */
export class FailureCount {
  private readonly logged = new LRUCache<string, { at: number; since: number }>({ max: MAX_REMEMBERED });

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Failures of the kind since the last line, this one included; undefined if the last line is too recent. */
  toLog(kind: string): number | undefined {
    const last = this.logged.get(kind);
    const failures = (last?.since ?? 0) + 1;
    const isDue = !last || this.now() - last.at >= LOG_INTERVAL_MS;
    this.logged.set(kind, { at: isDue ? this.now() : last.at, since: isDue ? 0 : failures });
    return isDue ? failures : undefined;
  }
}
