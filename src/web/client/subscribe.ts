import { ParleyError } from "./parley-error";
import { dataOf, textOf, type GraphQLResult } from "./run-operation";
import { linked } from "./signals";
import { pause, pauseBefore, type SendOptions } from "./send";

export interface SubscribeOptions {
  /** Ends the subscription. The reader gets the reason of the signal as an error. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the subscription is open, again after each connection. */
  readonly opened?: (() => void) | undefined;
}

/**
 * Opens a connection; resolves once the service has accepted the subscription, if the transport can tell. The results
 * end without an error only if the service has completed the subscription.
 */
export type Transport = (
  payload: { readonly query: string; readonly variables: Record<string, unknown> },
  signal: AbortSignal,
) => Promise<AsyncIterable<GraphQLResult>>;

/** The service takes up a subscription where it ended. */
const PASSING = new Set(["NETWORK", "TIMEOUT", "RATE_LIMITED", "UNAVAILABLE"]);

/** Whether another connection can help: the service is away, or the token has expired and can be renewed. */
const canResume = (error: unknown, { token }: SendOptions, isAccepted: boolean): boolean =>
  error instanceof ParleyError &&
  (PASSING.has(error.code) ||
    (error.code === "UNAUTHENTICATED" && isAccepted && typeof token === "function"));

/** The id of the one field of a result, by which a stream continues. */
const idOf = (data: unknown): unknown => (Object.values(data ?? {})[0] as { id?: unknown } | null)?.id;

/**
 * Follows a subscription until the service completes it, over as many connections as that takes. If the document has
 * the variable `$after` and selects `id`, it continues after the last result, so none is lost.
 * @throws ParleyError when the service refuses it, or cannot be reached after ten tries
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
  let isAccepted = false;
  try {
    for (let tries = 0; ; tries++) {
      try {
        for await (const result of await openedBy(transport, { query, variables: current }, either, opened)) {
          const data = dataOf(result);
          [tries, isAccepted] = [0, true];
          const id = idOf(data);
          if (id !== undefined && query.includes("$after")) current = { ...current, after: id };
          yield data;
        }
        either.throwIfAborted();
        return;
      } catch (error) {
        either.throwIfAborted();
        if (tries >= (options.retries === 0 ? 0 : 10) || !canResume(error, options, isAccepted)) throw error;
        isAccepted = false;
      }
      await pause(pauseBefore(tries), either);
    }
  } finally {
    release();
    end();
  }
}

async function openedBy(
  transport: Transport,
  payload: Parameters<Transport>[0],
  signal: AbortSignal,
  opened: (() => void) | undefined,
): Promise<AsyncIterable<GraphQLResult>> {
  const results = await transport(payload, signal);
  opened?.();
  return results;
}
