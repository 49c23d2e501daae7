import { computed, effect } from "@preact/signals";
import type { Application } from "./application";

const INTERVAL_MS = 5_000;

/** Reads the widget again and again while an answer is late, and while the installation is held, until it answers. */
export function watchHold(
  { widget, conversation: { awaiting, draft } }: Pick<Application, "widget" | "conversation">,
  read: () => Promise<void>,
): void {
  const isHeld = computed(() => widget.value?.held === true);
  const isLate = computed(() => awaiting.value && draft.value === "");
  const isWatching = computed(() => isHeld.value || isLate.value);
  effect(() => {
    if (!isWatching.value) return undefined;
    const timer = setInterval(() => void read().catch(() => undefined), INTERVAL_MS);
    return () => clearInterval(timer);
  });
  let wasHeld = false;
  effect(() => {
    // The operator may have dropped the question. If it is answered now, an event says so.
    if (wasHeld && !isHeld.value) awaiting.value = false;
    wasHeld = isHeld.value;
  });
}
