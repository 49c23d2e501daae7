import { computed, effect, type Signal } from "@preact/signals";
import type { Conversation } from "./conversation";
import { READ_HOLD } from "./operations.generated";
import type { Session } from "./session";

const INTERVAL_MS = 5_000;

/**
 * Whether the installation is held. It is asked apart from the widget, because a server of an earlier version, which may
 * still run beside this one's, does not know it.
 * @returns undefined if the server does not answer the question
 */
export const readHold = (session: Pick<Session, "run">): Promise<boolean | undefined> =>
  session.run(READ_HOLD, {}).then(
    ({ held }) => held,
    () => undefined,
  );

/** Asks at once, and again and again while an answer is late or the installation is held, until it answers. */
export function watchHold(
  held: Signal<boolean>,
  session: Session,
  { awaiting, draft }: Pick<Conversation, "awaiting" | "draft">,
): void {
  const ask = async () => {
    const wasHeld = held.peek();
    held.value = (await readHold(session)) ?? wasHeld;
    // The operator may have dropped the question. If it is answered now, an event says so.
    if (wasHeld && !held.value) awaiting.value = false;
  };
  void ask();
  const isWatching = computed(() => held.value || (awaiting.value && draft.value === ""));
  effect(() => {
    if (!isWatching.value) return undefined;
    const timer = setInterval(() => void ask(), INTERVAL_MS);
    return () => clearInterval(timer);
  });
}
