import { setTimeout as sleep } from "node:timers/promises";

const LIMIT_MS = 60_000;

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
  for (const end = Date.now() + limit; Date.now() < end; await sleep(20)) {
    const value = await found().catch((error: unknown) => void (cause = error));
    if (value !== false && value !== undefined) return value;
  }
  throw new Error(`Not so within ${limit} ms: ${String(look)}`, { cause });
}
