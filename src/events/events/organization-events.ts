import { setTimeout as sleep } from "node:timers/promises";
import { Repeater } from "@graphql-yoga/subscription";
import type { Listener } from "../../platform/database/listener";
import type { Scope } from "../../platform/database/scope";
import type { Event } from "./events";
import { EVENTS_CHANNEL } from "./record";
import { Ledger, type Place } from "./ledger";

const MOST = 200;
/** After so many milliseconds without a notification, which may be lost, the ledger is read all the same. */
const READ_AGAIN = 1_000;

export type Listening = Pick<Listener, "on" | "onRenewed">;

/** What was found behind a place, and the place behind that. */
export interface Found<T> {
  readonly items: readonly T[];
  readonly place: Place;
  /** There may be more at once. */
  readonly more: boolean;
  /** Nothing will follow. */
  readonly over?: boolean;
}

/**
 * Everything that happens in an organization, behind the event `after` or from now on, without a gap.
 * @throws EVENT_NOT_FOUND
 */
export function organizationEvents(
  fresh: () => Scope,
  listener: Listening,
  after: string | null | undefined,
): Promise<Repeater<Event>> {
  return follow(fresh, listener, after, async (scope, from) => {
    const { events, place } = await scope.of(Ledger).behind(from, MOST);
    return { items: events, place, more: events.length === MOST };
  });
}

/**
 * Follows the ledger with a reader of one's own.
 * @throws EVENT_NOT_FOUND
 */
export async function follow<T>(
  fresh: () => Scope,
  listener: Listening,
  after: string | null | undefined,
  read: (scope: Scope, from: Place) => Promise<Found<T>>,
): Promise<Repeater<T>> {
  const { organizationId } = fresh();
  let place = await fresh().of(Ledger).place(after);
  return new Repeater<T>(async (push, stop) => {
    let due = true; // something may have been written since the place was read
    let wake: (() => void) | undefined;
    const ring = () => ((due = true), wake?.());
    const silence = [
      listener.on(EVENTS_CHANNEL, (ids) => void (ids.organizationId === organizationId && ring())),
      listener.onRenewed(ring),
    ];
    let stopped = false;
    void stop.then(() => ((stopped = true), ring()));
    while (!stopped) {
      due = false;
      const found = await read(fresh(), place).catch(() => ({ items: [], place, more: false, over: false }));
      for (const item of found.items) await push(item);
      place = found.place;
      if (found.over) stop();
      if (found.more || due || stopped) continue;
      await Promise.race([
        new Promise<void>((resolve) => (wake = resolve)),
        sleep(READ_AGAIN, undefined, { ref: false }),
      ]);
    }
    silence.forEach((end) => end());
  });
}
