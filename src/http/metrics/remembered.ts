import { setTimeout as sleep } from "node:timers/promises";

/** A value that is read when it is asked for, and then remembered for a while. */
export class Remembered<T> {
  private value: T | undefined;
  private readAt = -Infinity;
  private reading: Promise<void> | undefined;

  /**
   * @param maxAgeMs time until it is read again
   * @param waitMs longest time that a caller waits
   */
  constructor(
    private readonly maxAgeMs: number,
    private readonly waitMs: number,
    private readonly read: () => Promise<T>,
  ) {}

  /** The value; undefined if it could not be read. Callers share one reading. */
  async get(): Promise<T | undefined> {
    if (performance.now() - this.readAt >= this.maxAgeMs) {
      this.reading ??= this.refresh();
      const late = sleep(this.waitMs, "late", { ref: false });
      if ((await Promise.race([this.reading, late])) === "late") return undefined;
    }
    return this.value;
  }

  private async refresh(): Promise<void> {
    this.value = await this.read().catch(() => undefined);
    this.readAt = performance.now();
    this.reading = undefined;
  }
}
