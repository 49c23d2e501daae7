import { setTimeout as sleep } from "node:timers/promises";
import { Repeater } from "@graphql-yoga/subscription";
import type { Listener } from "../database/listener";
import type { Scope } from "../database/scope";
import { Events, EVENTS_CHANNEL, type Event } from "./events";

const MOST = 200;
/** An event that another transaction keeps back is looked for again after this many milliseconds. */
const AGAIN = 100;

/**
 * Everything that happens in an organization, behind the event `after` or from now on, without a gap.
 * @throws EVENT_NOT_FOUND
 */
export async function organizationEvents(
  fresh: () => Scope,
  listener: Pick<Listener, "on" | "onRenewed">,
  after: string | null | undefined,
): Promise<Repeater<Event>> {
  const { organizationId } = fresh();
  let place = await fresh().of(Events).place(after);
  return new Repeater<Event>(async (push, stop) => {
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
      const found = await fresh()
        .of(Events)
        .behind(place, MOST)
        .catch(() => ({ events: [], place }));
      for (const event of found.events) await push(event);
      place = found.place;
      if (found.events.length === MOST || due) continue;
      // Once woken with nothing to see, an older transaction is still open: it will not ring for what it keeps back.
      await Promise.race([
        new Promise<void>((resolve) => (wake = resolve)),
        sleep(AGAIN * 10, undefined, { ref: false }),
      ]);
    }
    silence.forEach((end) => end());
  });
}
