/** After this time without work, looks are rarer, so that an idle server does little. */
const QUIET_AFTER_MS = 60_000;

export interface LookoutOptions {
  /** Looks for work and does it. @returns whether there was any */
  readonly look: () => Promise<boolean>;
  /** Pause between looks. */
  readonly pauseMs: number;
  /** Pause once there has been no work for a minute. */
  readonly quietPauseMs: number;
  readonly failed: (error: unknown) => void;
}

/** Looks for work again and again, one look at a time. */
export class Lookout {
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private workedAt = performance.now();
  private stopped = false;

  constructor(private readonly options: LookoutOptions) {
    this.wait();
  }

  /** Notes that there is work that somebody else has found, so that looks are frequent again. */
  noteWork(): void {
    const wasQuiet = this.isQuiet();
    this.workedAt = performance.now();
    if (wasQuiet && !this.looking) this.wait();
  }

  /** Resolves when the look that is going on has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.looking;
  }

  private wait(): void {
    clearTimeout(this.timer);
    if (this.stopped) return;
    const { pauseMs, quietPauseMs } = this.options;
    this.timer = setTimeout(() => void this.run(), this.isQuiet() ? quietPauseMs : pauseMs).unref();
  }

  private async run(): Promise<void> {
    this.looking = this.look();
    await this.looking;
    this.looking = undefined;
    this.wait();
  }

  private async look(): Promise<void> {
    try {
      if (await this.options.look()) this.workedAt = performance.now();
    } catch (error) {
      this.options.failed(error);
    }
  }

  private isQuiet(): boolean {
    return performance.now() - this.workedAt > QUIET_AFTER_MS;
  }
}
