import { ParleyError } from "./parley-error";
import { linked } from "./signals";

export type Fetch = (request: Request, init?: RequestInit) => Promise<Response>;
type Text = string | (() => string | Promise<string>);

export interface SendOptions {
  /** A SECRET key. It must not reach web pages. */
  readonly key?: Text | undefined;
  /** A bearer token, or a function that returns one; it is called for each request, so it can renew the token. */
  readonly token?: Text | undefined;
  /** Times that a request is repeated after a failure that may pass. Default: 2; 0 repeats nothing. */
  readonly retries?: number | undefined;
  /** Time in which an answer must arrive, in ms. Default: 75,000, because a request can wait 60 s for an assistant. */
  readonly timeoutMs?: number | undefined;
  /** Default: the fetch of the runtime. */
  readonly fetch?: Fetch | undefined;
  /**
   * Called with each warning about a request that succeeded, such as a variable without a value: a sentence for
   * developers.
   */
  readonly onWarning?: ((warning: string) => void) | undefined;
}

const RETRIED = new Set([429, 502, 503, 504]);
/** The reason of a signal that was aborted because no answer came in time. */
const LATE = new Error("No answer in time");
const PAUSE_MS = { min: 250, running: 2_000, max: 60_000 };

const valueOf = (text: Text) => (typeof text === "function" ? text() : text);

/** The headers of the credential, asked for anew. */
export async function credential({ key, token }: SendOptions): Promise<Record<string, string>> {
  if (token !== undefined) return { Authorization: `Bearer ${(await valueOf(token)).trim()}` };
  return key === undefined ? {} : { "X-API-Key": (await valueOf(key)).trim() };
}

/** Waits. @throws the reason of the signal when it is aborted */
export const pause = (ms: number, signal?: AbortSignal | null): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => (clearTimeout(timer), reject(signal!.reason));
    const timer = setTimeout(() => (signal?.removeEventListener("abort", stop), resolve()), ms);
    signal?.addEventListener("abort", stop, { once: true });
  });

/** The pause before a try, in ms: longer each time, and different for each client. */
export const pauseBefore = (tries: number): number =>
  Math.min(PAUSE_MS.min * 2 ** tries * (0.5 + Math.random()), PAUSE_MS.max);

/** Whether the service still works on an earlier try, which GraphQL says in an answer with status 200. */
const isRunning = async (request: Request, response: Response): Promise<boolean> =>
  request.headers.has("Idempotency-Key") &&
  [200, 409].includes(response.status) &&
  (await response.clone().text()).includes('"REQUEST_IN_PROGRESS"');

/** The pause after which the same request can succeed, in ms; undefined if it cannot. */
async function passesAfter(request: Request, response: Response, tries: number): Promise<number | undefined> {
  const wait = Number(response.headers.get("Retry-After")) * 1_000 || pauseBefore(tries);
  // An answer of GraphQL with status 200 has the header if one of its fields can succeed later.
  if (RETRIED.has(response.status) || (response.status === 200 && response.headers.has("Retry-After")))
    return wait;
  return (await isRunning(request, response)) ? Math.max(wait, PAUSE_MS.running) : undefined;
}

/** The failure of a request without a response. What the caller has aborted, and errors of the client, stay as they are. */
export function failureOf(cause: unknown, url: string, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (cause instanceof ParleyError) return cause;
  return cause === LATE
    ? new ParleyError(`${url} did not answer in time.`, { code: "TIMEOUT", cause })
    : new ParleyError(`${url} could not be reached.`, { code: "NETWORK", cause });
}

/** Aborts after the time limit. @returns a function that prevents it */
export function startTimer(
  { timeoutMs = 75_000 }: SendOptions,
  abort: (reason: unknown) => void,
): () => void {
  const timer = setTimeout(() => abort(LATE), timeoutMs);
  return () => clearTimeout(timer);
}

/** Changing a record twice does no harm, unless the second change requires the state before the first. */
const isRepeatable = ({ method, headers }: Request): boolean =>
  method === "POST" ? headers.has("Idempotency-Key") : !headers.has("If-Match");

/**
 * One try. The whole body is read within the time limit, so that a response that breaks off counts as none.
 * @throws ParleyError with NETWORK or TIMEOUT, or the reason of an aborted signal
 */
async function attempt(options: SendOptions, request: Request): Promise<Response> {
  const { fetch = globalThis.fetch } = options;
  const { signal, abort, release } = linked(request.signal);
  const stop = startTimer(options, abort);
  try {
    const response = await fetch(request, { signal });
    const body = await response.arrayBuffer();
    return new Response(body.byteLength > 0 ? body : null, response);
  } catch (error) {
    throw failureOf(error, request.url, request.signal);
  } finally {
    stop();
    release();
  }
}

/**
 * Sends a request with the credential, and repeats it as long as that can help. A POST is repeated only with an
 * Idempotency-Key, so that it takes effect once.
 * @throws ParleyError with NETWORK or TIMEOUT, or the reason of an aborted signal
 */
export async function send(
  options: SendOptions,
  request: Request,
  mayRepeat = isRepeatable(request),
): Promise<Response> {
  const { retries = 2 } = options;
  for (let tries = 0; ; tries++) {
    const isLast = !mayRepeat || tries >= retries;
    let wait = pauseBefore(tries);
    for (const [name, value] of Object.entries(await credential(options))) request.headers.set(name, value);
    try {
      const response = await attempt(options, isLast ? request : request.clone());
      const after = isLast ? undefined : await passesAfter(request, response, tries);
      if (after === undefined || after > PAUSE_MS.max) return response;
      wait = after;
    } catch (error) {
      if (isLast || request.signal.aborted) throw error;
    }
    await pause(wait, request.signal);
  }
}
