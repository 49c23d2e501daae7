import { setTimeout as sleep } from "node:timers/promises";
import { Repeater } from "@graphql-yoga/subscription";
import type { Listener } from "../../platform/database/listener";
import type { Scope } from "../../platform/database/scope";
import type { Event } from "./events";
import { EVENTS_CHANNEL } from "./record";
import { Ledger, type LedgerPosition } from "./ledger";

const BATCH_SIZE = 200;
/** The ledger is read at least this often, because notifications can be lost. */
const POLL_INTERVAL_MS = 1_000;

export type ChangeListener = Pick<Listener, "on" | "onRenewed">;

/** Items found in the ledger, and the position up to which it was read. */
export interface LedgerBatch<T> {
  readonly items: readonly T[];
  readonly position: LedgerPosition;
  /** Whether the next batch can be read at once. */
  readonly more: boolean;
  /** Whether nothing can follow, so that the stream ends. */
  readonly done?: boolean;
}

/**
 * All events of an organization after the event `after`, or from now on, without a gap.
 * @param fresh creates a scope for each read
 * @throws EVENT_NOT_FOUND
 */
export function organizationEvents(
  fresh: () => Scope,
  listener: ChangeListener,
  after: string | null | undefined,
): Promise<Repeater<Event>> {
  return follow(fresh, listener, after, async (scope, from) => {
    const { events, position } = await scope.of(Ledger).after(from, BATCH_SIZE);
    return { items: events, position, more: events.length === BATCH_SIZE };
  });
}

/**
 * Streams items that `read` finds in the ledger.
 * @throws EVENT_NOT_FOUND
 */
export async function follow<T>(
  fresh: () => Scope,
  listener: ChangeListener,
  after: string | null | undefined,
  read: (scope: Scope, from: LedgerPosition) => Promise<LedgerBatch<T>>,
): Promise<Repeater<T>> {
  const { organizationId } = fresh();
  let position = await fresh().of(Ledger).positionOf(after);
  return new Repeater<T>(async (push, stop) => {
    let due = true; // an event may have been written since the position was read
    let wake: (() => void) | undefined;
    const notify = () => ((due = true), wake?.());
    const unsubscribe = [
      listener.on(EVENTS_CHANNEL, (ids) => void (ids.organizationId === organizationId && notify())),
      listener.onRenewed(notify),
    ];
    let stopped = false;
    void stop.then(() => ((stopped = true), notify()));
    while (!stopped) {
      due = false;
      const found = await read(fresh(), position).catch(() => ({
        items: [],
        position,
        more: false,
        done: false,
      }));
      for (const item of found.items) await push(item);
      position = found.position;
      if (found.done) stop();
      if (found.more || due || stopped) continue;
      await Promise.race([
        new Promise<void>((resolve) => (wake = resolve)),
        sleep(POLL_INTERVAL_MS, undefined, { ref: false }),
      ]);
    }
    unsubscribe.forEach((end) => end());
  });
}
