import { KEYS_CHANNEL, type Credentials } from "../../account/auth/credentials";
import type { Caller } from "../../account/auth/caller";
import { currentTime } from "../../platform/clock";
import type { Listener } from "../../platform/database/notifications/listener";

export interface WatchOptions {
  readonly credentials: Pick<Credentials, "stillValid">;
  readonly listener: Pick<Listener, "on" | "onRenewed">;
}

/** Longest pause between two checks of a credential that expires, in ms. */
const MAX_CHECK_INTERVAL_MS = 60_000;

/** Calls `onExpired` when the caller's token or key expires or its key is deactivated. */
export function watchCredential(
  { credentials, listener }: WatchOptions,
  caller: Caller,
  onExpired: () => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isWatched = true;
  const check = async () => {
    const isValid = await credentials.stillValid(caller).catch(() => true);
    if (isWatched && !isValid) onExpired();
    else schedule();
  };
  const schedule = () => {
    clearTimeout(timer);
    if (!caller.expiresAt || !isWatched) return;
    const left = caller.expiresAt.getTime() - currentTime() + 50;
    timer = setTimeout(() => void check(), Math.min(Math.max(left, 1_000), MAX_CHECK_INTERVAL_MS));
  };
  const unsubscribers = [
    listener.on(KEYS_CHANNEL, ({ keyId }) => void (keyId === caller.keyId && check())),
    listener.onRenewed(() => void check()),
  ];
  void check(); // the credential may have changed since it was accepted, such as while the body arrived
  return () => {
    isWatched = false;
    clearTimeout(timer);
    for (const unsubscribe of unsubscribers) unsubscribe();
  };
}
