import { setTimeout as sleep } from "node:timers/promises";

const LIMIT_MS = 60_000;
/** The shortest and the longest pause between two looks. */
const PAUSE_MS = { first: 20, last: 250 };
/** Part of the time waited so far that the next pause takes: a long wait looks less often and leaves the CPU to others. */
const PART = 0.05;

type Falsy = false | undefined;
/**
 * Polls until a condition holds or a value exists, for at most a minute or the given limit in ms.
 * @returns the value
 */
export function until(holds: () => boolean | Promise<boolean>, limit?: number): Promise<void>;
export function until<T>(look: () => T | Falsy | Promise<T | Falsy>, limit?: number): Promise<T>;
export async function until(look: () => unknown, limit = LIMIT_MS): Promise<unknown> {
  let cause: unknown;
  const found = () => Promise.resolve().then(look);
  const begin = Date.now();
  const pause = () => Math.min(PAUSE_MS.last, Math.max(PAUSE_MS.first, PART * (Date.now() - begin)));
  for (; Date.now() < begin + limit; await sleep(pause())) {
    const value = await found().catch((error: unknown) => void (cause = error));
    if (value !== false && value !== undefined) return value;
  }
  throw new Error(`Not so within ${limit} ms: ${String(look)}`, { cause });
}
