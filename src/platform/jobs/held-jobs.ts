import type { Listener } from "../database/notifications/listener";
import { RELEASE_CHANNEL } from "../database/connections/holds";

/** Background work that starts now or when the installation is released. */
export interface HeldWork<T> {
  /** The started work; undefined until it has started. */
  readonly started: () => T | undefined;
  readonly stop: () => Promise<void>;
}

export interface HeldWorkOptions<T> {
  readonly listener: Pick<Listener, "on" | "onRenewed">;
  /** Whether the installation is held: a restored copy must not reach people until the operator releases it. */
  readonly isHeld: () => Promise<boolean>;
  readonly start: () => Promise<T>;
  readonly end: (started: T) => Promise<void>;
  /** Called if a later check or start fails. */
  readonly failed: (error: unknown) => void;
}

/** Starts work now, or if the installation is held, as soon as it is released. @throws Error if the first check or start fails */
export async function startWhenReleased<T>(options: HeldWorkOptions<T>): Promise<HeldWork<T>> {
  const { listener, isHeld, start, end, failed } = options;
  let started: T | undefined;
  let stopped = false;
  let checking: Promise<void> = Promise.resolve();
  const check = async () => {
    if (started === undefined && !stopped && !(await isHeld())) started = await start();
  };
  // Checks run one after another, so two notifications cannot start the work twice.
  const checkAgain = () => void (checking = checking.then(check).catch(failed));
  const unsubscribers = [listener.on(RELEASE_CHANNEL, checkAgain), listener.onRenewed(checkAgain)];
  await check();
  return {
    started: () => started,
    stop: async () => {
      stopped = true;
      for (const unsubscribe of unsubscribers) unsubscribe();
      await checking;
      if (started !== undefined) await end(started);
    },
  };
}
