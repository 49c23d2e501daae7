import type { Repeater } from "@graphql-yoga/subscription";
import type { Listener } from "../../platform/database/notifications/listener";
import type { Scope } from "../../platform/database/scope";
import { polled, type Polled } from "../../platform/polled";
import type { Event } from "./events";
import { EVENTS_CHANNEL } from "./record";
import { Ledger, type LedgerPosition } from "./ledger";

const BATCH_SIZE = 200;

export type ChangeListener = Pick<Listener, "on" | "onRenewed">;

/** Items found in the ledger, and the position up to which it was read. */
export interface LedgerBatch<T> extends Polled<T> {
  readonly position: LedgerPosition;
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
  return polled(
    async () => {
      const found = await read(fresh(), position);
      position = found.position;
      return found;
    },
    (wake) => [
      listener.on(EVENTS_CHANNEL, (ids) => void (ids.organizationId === organizationId && wake())),
      listener.onRenewed(wake),
    ],
  );
}
