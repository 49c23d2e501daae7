import { createClient } from "graphql-ws";
import { ParleyError } from "./parley-error";
import type { GraphQLResult } from "./run-operation";
import { credential, type SendOptions } from "./send";
import type { Transport } from "./subscribe";

/** Subscriptions over one WebSocket, which opens with the first and closes after the last. */
export function webSocket(url: string, options: SendOptions, implementation: unknown): Transport {
  const client = createClient({
    url: url.replace(/^http/, "ws"),
    connectionParams: () => credential(options),
    retryAttempts: 0, // each subscription continues by itself, after its own last result
    ...(implementation !== undefined && { webSocketImpl: implementation }),
  });
  return (payload, signal) => Promise.resolve(results(client.iterate(payload), signal, url));
}

async function* results(
  source: AsyncIterableIterator<object>,
  signal: AbortSignal,
  url: string,
): AsyncGenerator<GraphQLResult> {
  const stop = () => void source.return?.();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const result of source) yield result as GraphQLResult;
  } catch (cause) {
    const { code, reason } = cause as { readonly code?: number; readonly reason?: string };
    if (code === 4403) throw new ParleyError(reason ?? "Forbidden", { code: "UNAUTHENTICATED", cause });
    if (Array.isArray(cause)) yield { errors: cause as GraphQLResult["errors"] & object };
    else throw new ParleyError(`The connection to ${url} broke off.`, { code: "NETWORK", cause });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
