import { setTimeout as sleep } from "node:timers/promises";
import { Repeater } from "@graphql-yoga/subscription";

/** Pause between reads that nothing has asked for, because notifications can be lost. */
const INTERVAL_MS = 1_000;

/** Result of a read. */
export interface Polled<T> {
  readonly items: readonly T[];
  /** Whether the next read is due at once. */
  readonly more?: boolean;
  /** Whether nothing can follow, so that the stream ends. */
  readonly done?: boolean;
}

/**
 * Streams what repeated reads return, one after another: at once when `wake` is called, and at least once a second. A
 * read that fails returns nothing and is repeated.
 * @param listen begins to call `wake`, and returns functions that end it
 */
export function polled<T>(
  read: () => Promise<Polled<T>>,
  listen: (wake: () => void) => readonly (() => void)[] = () => [],
): Repeater<T> {
  return new Repeater<T>(async (push, stop) => {
    let due = true; // something may have been written since the position was read
    let wake: (() => void) | undefined;
    const notify = () => ((due = true), wake?.());
    const unsubscribe = listen(notify);
    let stopped = false;
    void stop.then(() => ((stopped = true), notify()));
    while (!stopped) {
      due = false;
      const { items, more, done }: Polled<T> = await read().catch(() => ({ items: [] }));
      for (const item of items) await push(item);
      if (done) stop();
      if (more || due || stopped) continue;
      await Promise.race([
        new Promise<void>((resolve) => (wake = resolve)),
        sleep(INTERVAL_MS, undefined, { ref: false }),
      ]);
    }
    unsubscribe.forEach((end) => end());
  });
}
