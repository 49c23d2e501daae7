import { tracing } from "./tracing/tracing";

interface Begun {
  readonly at: number;
}

export interface ConcurrencyLimitOptions {
  /** Pieces of work at once. */
  readonly atOnce: number;
  /** Time in ms after which work no longer counts. */
  readonly countedMs: number;
}

/**
 * Lets work begin in its order, while little other work has just begun. None waits for work that takes long. Work should
 * create what it needs itself and return little: what exists while it waits becomes old, and then keeps all to which it
 * refers until a full garbage collection.
 */
export class ConcurrencyLimit {
  private begun: Begun[] = [];
  private readonly waiting: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: ConcurrencyLimitOptions) {}

  readonly run = <R>(work: () => Promise<R>): Promise<R> => {
    if (this.begun.length < this.options.atOnce) return this.counted(work);
    this.timer ??= setTimeout(this.forgetLong, this.options.countedMs);
    // It begins when other work ends, but belongs to its own trace.
    const bound = tracing.tracer?.bind(work) ?? work;
    return new Promise((resolve) => this.waiting.push(() => resolve(this.counted(bound))));
  };

  private async counted<R>(work: () => Promise<R>): Promise<R> {
    const begun = { at: performance.now() };
    this.begun.push(begun);
    try {
      return await work();
    } finally {
      const at = this.begun.indexOf(begun);
      if (at >= 0) this.begun.splice(at, 1);
      this.beginWaiting();
    }
  }

  private beginWaiting(): void {
    while (this.begun.length < this.options.atOnce && this.waiting.length > 0) this.waiting.shift()!();
  }

  private readonly forgetLong = (): void => {
    const { countedMs } = this.options;
    const since = performance.now() - countedMs;
    this.begun = this.begun.filter(({ at }) => at > since);
    this.beginWaiting();
    this.timer = this.waiting.length > 0 ? setTimeout(this.forgetLong, countedMs) : undefined;
  };
}
