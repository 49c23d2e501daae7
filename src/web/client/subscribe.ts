import { ParleyError } from "./parley-error";
import { dataOf, textOf, type GraphQLResult } from "./run-operation";
import { linked } from "./signals";
import { pause, pauseBefore, type SendOptions } from "./send";

export interface SubscribeOptions {
  /** Ends the subscription. Its reader gets the reason of the signal as an error. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the service has accepted the subscription: once, and again after each break of the connection. */
  readonly opened?: (() => void) | undefined;
}

/**
 * Opens a connection; resolves once the service has accepted it. The results end without an error only if the service has
 * completed the subscription.
 * @throws ParleyError
 */
export type Transport = (
  payload: { readonly query: string; readonly variables: Record<string, unknown> },
  signal: AbortSignal,
) => Promise<AsyncIterable<GraphQLResult>>;

/** After these errors, the service takes a subscription up again. */
const PASSING = new Set(["NETWORK", "TIMEOUT", "RATE_LIMITED", "UNAVAILABLE"]);
/** Tries in a row to connect again. A connection without results that lasted so long, in ms, ends the row. */
const MAX_TRIES = 10;
const STABLE_MS = 1_000;

/** Number of further connections to try after an error. */
function triesAfter(error: unknown, { retries = 2, token }: SendOptions, wasOpen: boolean): number {
  if (!(error instanceof ParleyError)) return 0;
  // The token was good when the connection was opened, so it has expired.
  if (error.code === "UNAUTHENTICATED") return wasOpen && typeof token === "function" ? MAX_TRIES : 0;
  if (!PASSING.has(error.code)) return 0;
  return wasOpen && retries > 0 ? MAX_TRIES : retries;
}

/** The id of the one field of a result, by which a stream continues. */
const idOf = (data: unknown): unknown => (Object.values(data ?? {})[0] as { id?: unknown } | null)?.id;

/**
 * Follows a subscription until the service completes it, over as many connections as that takes. If the document has
 * the variable `$after` and selects `id`, it continues after the last result, so none is lost.
 * @throws ParleyError when the service refuses it, or cannot be reached again
 */
export async function* subscribe(
  transport: Transport,
  options: SendOptions,
  document: string | object,
  variables: object = {},
  { signal, opened }: SubscribeOptions = {},
): AsyncGenerator<unknown, void, void> {
  const query = await textOf(document);
  const { signal: either, abort: end, release } = linked(signal);
  let current: Record<string, unknown> = { ...variables };
  let wasOpen = false;
  try {
    for (let tries = 0; ; tries++) {
      let [isOpen, openedAt] = [false, 0];
      try {
        const results = await transport({ query, variables: current }, either);
        [isOpen, wasOpen, openedAt] = [true, true, Date.now()];
        opened?.();
        for await (const result of results) {
          const data = dataOf(result);
          tries = 0;
          const id = idOf(data);
          if (id !== undefined && query.includes("$after")) current = { ...current, after: id };
          yield data;
        }
        either.throwIfAborted();
        return;
      } catch (error) {
        either.throwIfAborted();
        if (isOpen && Date.now() - openedAt > STABLE_MS) tries = 0;
        const isCredential = error instanceof ParleyError && error.code === "UNAUTHENTICATED";
        if (tries >= triesAfter(error, options, isCredential ? isOpen : wasOpen)) throw error;
      }
      await pause(pauseBefore(tries), either);
    }
  } finally {
    release();
    end();
  }
}
