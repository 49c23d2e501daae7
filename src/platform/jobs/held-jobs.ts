import type { Listener } from "../database/listener";
import { RELEASE_CHANNEL } from "../database/holds";

/** Work in the background that begins now, or when the installation is released. */
export interface Held<T> {
  /** Undefined until it has begun. */
  readonly begun: () => T | undefined;
  readonly stop: () => Promise<void>;
}

export interface HeldOptions<T> {
  readonly listener: Pick<Listener, "on" | "onRenewed">;
  /** Whether nothing may go out. */
  readonly isHeld: () => Promise<boolean>;
  readonly begin: () => Promise<T>;
  readonly end: (begun: T) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

/** Begins work unless the installation is held, and else as soon as it is released. */
export async function beginWhenReleased<T>(options: HeldOptions<T>): Promise<Held<T>> {
  const { listener, isHeld, begin, end, failed } = options;
  let begun: T | undefined;
  let stopped = false;
  let looking: Promise<void> = Promise.resolve();
  const look = async () => {
    if (begun === undefined && !stopped && !(await isHeld())) begun = await begin();
  };
  // One after another: of two notifications one begins.
  const lookAgain = () => void (looking = looking.then(look).catch(failed));
  const silence = [listener.on(RELEASE_CHANNEL, lookAgain), listener.onRenewed(lookAgain)];
  await look();
  return {
    begun: () => begun,
    stop: async () => {
      stopped = true;
      for (const hush of silence) hush();
      await looking;
      if (begun !== undefined) await end(begun);
    },
  };
}
