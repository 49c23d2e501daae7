import { createClient } from "graphql-ws";
import { ParleyError } from "./parley-error";
import type { GraphQLResult } from "./run-operation";
import { credential, failureOf, startTimer, type SendOptions } from "./send";
import { linked } from "./signals";
import type { Transport } from "./subscribe";

/** A class for WebSockets, such as that of the package ws. */
export type SocketClass = new (address: string, protocols?: string | string[]) => object;

/** Subscriptions over one WebSocket, which opens with the first and closes after the last. */
export function webSocket(
  url: string,
  options: SendOptions,
  implementation: SocketClass | undefined,
): Transport {
  let sent: Record<string, string> = {};
  let isOpen = false;
  const client = createClient({
    url: url.replace(/^http/, "ws"),
    connectionParams: () => sent,
    retryAttempts: 0, // each subscription continues by itself, after its own last result
    on: { connected: () => (isOpen = true), closed: () => (isOpen = false) },
    ...(implementation !== undefined && { webSocketImpl: heard(implementation) }),
  });
  /** Resolves when the service has accepted the connection. */
  const accepted = () =>
    new Promise<void>((resolve) => {
      if (isOpen) return resolve();
      const off = client.on("connected", () => (off(), resolve()));
    });
  return async (payload, signal) => {
    sent = await credential(options);
    const source = client.iterate(payload);
    const { signal: late, abort } = linked(signal);
    const stop = startTimer(options, abort);
    const first = source.next().catch((error: unknown) => Promise.reject(errorOf(error, url, isOpen)));
    first.catch(() => undefined); // the reader gets it
    try {
      await Promise.race([accepted(), first, aborted(late)]);
    } catch (error) {
      // A connection that hangs is given up, with all that wait for it.
      if (late.aborted && !isOpen) client.terminate();
      throw late.aborted ? failureOf(late.reason, url, signal) : error;
    } finally {
      stop();
    }
    return results(first, source, signal, url);
  };
}

/** Sockets whose errors never go unheard: graphql-ws stops listening when it gives one up, and `ws` would end the process. */
const heard = (implementation: SocketClass): SocketClass =>
  new Proxy(implementation, {
    construct: (Socket, [address, protocols]: [string, string[]?]) => {
      const socket = new Socket(address, protocols);
      (socket as EventTarget).addEventListener("error", () => undefined);
      return socket;
    },
  });

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });

type Source = AsyncIterableIterator<object>;

async function* results(
  first: Promise<IteratorResult<object>>,
  source: Source,
  signal: AbortSignal,
  url: string,
): AsyncGenerator<GraphQLResult> {
  const stop = () => void source.return?.();
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (let step = await first; !step.done; step = await source.next()) yield step.value as GraphQLResult;
  } catch (error) {
    if (!Array.isArray(error)) throw errorOf(error, url, true);
    yield { errors: error as GraphQLResult["errors"] & object };
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** The error of a connection; that of a document, which is a list, stays as it is. */
function errorOf(error: unknown, url: string, wasOpen: boolean): unknown {
  if (Array.isArray(error) || error instanceof ParleyError) return error;
  const { code, reason, error: cause = error } = error as { code?: number; reason?: string; error?: unknown };
  if (code === 4403) return new ParleyError(reason ?? "Forbidden", { code: "UNAUTHENTICATED", cause });
  const message = wasOpen ? `The connection to ${url} broke off.` : `${url} could not be reached.`;
  return new ParleyError(message, { code: "NETWORK", cause });
}
