import type { Logger } from "pino";
import { reasonOf } from "./network-failures";

/** Least time between two losses that are logged. */
const LOG_INTERVAL_MS = 60_000;

/** Logs when something that a server needs goes away, and when it is back: one line each, however many requests fail. */
export class Availability {
  private since: number | undefined;
  private loggedAt = -Infinity;
  private isTold = false;

  /**
   * @param lost says what is away, and what follows from it
   * @param back says that it answers again
   */
  constructor(
    private readonly logger: Pick<Logger, "warn">,
    private readonly lost: string,
    private readonly back: string,
  ) {}

  failed(error: unknown): void {
    const now = performance.now();
    this.since ??= now;
    if (this.isTold || now - this.loggedAt < LOG_INTERVAL_MS) return;
    this.isTold = true;
    this.loggedAt = now;
    this.logger.warn({ reason: reasonOf(error) }, this.lost);
  }

  works(): void {
    if (this.isTold) {
      const awaySeconds = Math.round((performance.now() - this.since!) / 1_000);
      this.logger.warn({ awaySeconds }, this.back);
    }
    this.since = undefined;
    this.isTold = false;
  }
}
