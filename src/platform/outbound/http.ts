import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { Agent, buildConnector, request, type Dispatcher } from "undici";
import { tracing } from "../tracing/tracing";
import { AddressRules } from "./addresses";
import { BoundedAnswers, type Bound } from "./bounds";

/** The response of a receiver, or the reason why there is none. */
export type Outcome =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly headers: Readonly<Record<string, unknown>>;
      readonly body: string;
      readonly complete: boolean;
    }
  | { readonly kind: "failed"; readonly error: string; readonly timedOut: boolean };

export interface OutboundRequest {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Time for the whole exchange: connecting, sending and receiving. */
  readonly timeoutMs: number;
  /** Name of the receiver, by which the log reports a longer body. Undefined if a longer one is no failure. */
  readonly provider?: string;
  /** Longest response body that is read; a longer one is cut off. */
  readonly readBytes: number;
}

/** Sends requests to addresses that customers chose. */
export interface Outbound {
  /** Sends a POST request. Does not follow redirects. Never throws because of the receiver. */
  post(request: OutboundRequest): Promise<Outcome>;
  /** A `fetch` for libraries, with the same restrictions: no redirects, no forbidden addresses. */
  readonly fetch: typeof fetch;
  /** Downloads from an address within limits. @throws Error if it cannot be reached; BoundExceeded, also while reading the body */
  download(url: string, provider: string, bound: Bound): Promise<Response>;
  /** Why a URL may not be stored (syntax, scheme, a forbidden literal address); undefined if it may. Does not resolve names. */
  problemWith(url: string): string | undefined;
  /** The same for an address that is stored nevertheless, also for names that always mean the server's own host. */
  refusalOf(url: string): string | undefined;
  close(): Promise<void>;
}

/** Names that resolve to the host itself. */
const LOCAL_NAME = /(?:^|\.)localhost\.?$/;
const CONNECT_TIMEOUT_MS = 5_000;
/** Time for one of several addresses before the next one is tried. */
const ATTEMPT_TIMEOUT_MS = 2_000;
/** The host of a request has no address that may be reached, so nothing was sent. Clients may see the message. */
class UnreachableHost extends Error {}
const REFUSED = "The address is private and not in OUTBOUND_ALLOW.";

/** Resolves a host name to its addresses. */
export type Resolve = (name: string) => Promise<readonly string[]>;

const systemResolve: Resolve = async (name) =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);

/** Creates a client that reaches public addresses and those in `allowed`. */
export function outbound(
  allowed: readonly string[],
  resolve: Resolve = systemResolve,
  answers = new BoundedAnswers(),
): Outbound {
  const rules = new AddressRules(allowed);
  const agent = new Agent({
    connect: connector(rules, resolve),
    connections: 16,
    pipelining: 1,
    maxResponseSize: -1,
  });
  const guarded = ((input: string | URL, init?: TextRequest) => {
    const problem = problemWith(String(input), rules);
    return problem ? Promise.reject(new UnreachableHost(REFUSED)) : fetchText(agent, String(input), init);
  }) as typeof fetch;
  return {
    problemWith: (url) => problemWith(url, rules),
    refusalOf: (url) => problemWith(url, rules, knownAddressOf),
    close: () => agent.destroy(),
    fetch: guarded,
    download: (url, provider, bound) => answers.fetch(guarded, provider, bound)(url),
    post: (sent) => {
      const problem = problemWith(sent.url, rules);
      if (problem) return Promise.resolve({ kind: "failed", error: problem, timedOut: false });
      return post(agent, sent, (provider, bound) => void answers.exceeded(provider, bound));
    },
  };
}

/** @param report called if a body is longer than the receiver may send */
async function post(
  dispatcher: Dispatcher,
  { url, body, headers, timeoutMs, readBytes, provider }: OutboundRequest,
  report: (provider: string, bound: string) => void,
): Promise<Outcome> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const options = {
      method: "POST",
      body,
      headers: { ...headers, ...tracing.tracer?.headers() },
      dispatcher,
      signal,
    } as const;
    const answer = await request(url, options);
    const { text, complete, cut } = await read(answer.body, readBytes);
    if (cut && provider !== undefined) report(provider, `${readBytes} bytes`);
    if (!complete) signal.throwIfAborted(); // an answer that does not finish in time counts as none
    return { kind: "answered", status: answer.statusCode, headers: answer.headers, body: text, complete };
  } catch (error) {
    return { kind: "failed", error: failureOf(error, signal), timedOut: signal.aborted || isTimeout(error) };
  }
}

type TextRequest = Omit<RequestInit, "body"> & { readonly body?: string | null };

/** Does the same as `fetch` for text bodies. Uses undici's `request`, which saves a millisecond per turn. */
async function fetchText(
  dispatcher: Dispatcher,
  url: string,
  { method = "GET", headers, body = null, signal = null }: TextRequest = {},
): Promise<Response> {
  const sent = Object.fromEntries(new Headers(headers));
  const answer = await request(url, {
    method: method as Dispatcher.HttpMethod,
    headers: sent,
    body,
    signal,
    dispatcher,
  });
  const { statusCode: status } = answer;
  const refusal = refusalOfStatus(status);
  if (refusal !== undefined) {
    answer.body.on("error", () => undefined).destroy(); // else the connection would stay in use
    throw new Error(refusal);
  }
  const received = new Headers();
  for (const [name, values] of Object.entries(answer.headers))
    for (const value of [values ?? []].flat()) received.append(name, value);
  const bodiless = status === 204 || status === 205;
  if (bodiless) await answer.body.dump();
  // Not by Readable.toWeb, which throws outside of every promise when the reader cancels.
  return new Response(bodiless ? null : ReadableStream.from<Uint8Array>(answer.body), {
    status,
    headers: received,
  });
}

/** Why an answer has no response. `Response` accepts only statuses up to 599. */
function refusalOfStatus(status: number): string | undefined {
  if (status >= 300 && status < 400)
    return `The server answered with a redirect (${status}); redirects are not followed.`;
  return status > 599 ? `The server answered with status ${status}, which HTTP does not define.` : undefined;
}

const knownAddressOf = (host: string): string => (LOCAL_NAME.test(host) ? "127.0.0.1" : host);

/** @param addressOf the address of a host, if it is known without a request; else the host */
function problemWith(
  text: string,
  rules: AddressRules,
  addressOf = (host: string): string => host,
): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol))
    return "must be a URL that begins with http:// or https://";
  if (url.username || url.password) return "must not contain a user name or password";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const address = addressOf(host);
  return isIP(address) && !rules.permits(address, host)
    ? "must not be a private, local or reserved address, unless the operator lists it in OUTBOUND_ALLOW"
    : undefined;
}

/** Resolves a name once, checks all of its addresses, and connects to one of exactly these (no DNS rebinding). */
function connector(rules: AddressRules, resolve: Resolve): buildConnector.connector {
  const checked = async (name: string) => {
    const addresses = await resolve(name).catch((error: NodeJS.ErrnoException) => notResolved(error.code));
    if (addresses.length === 0) notResolved("ENODATA");
    if (!addresses.every((address) => rules.permits(address, name))) throw new UnreachableHost(REFUSED);
    return addresses.map((address) => ({ address, family: isIP(address) }));
  };
  const lookup: LookupFunction = (name, _options, callback) =>
    void checked(name).then(
      (addresses) => callback(null, addresses),
      (error: UnreachableHost) => callback(error, []),
    );
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    lookup,
    autoSelectFamily: true, // tries one address after another
    autoSelectFamilyAttemptTimeout: ATTEMPT_TIMEOUT_MS,
  });
  return (options, callback) => {
    const hostname = options.hostname.replace(/^\[|\]$/g, "");
    // Literal addresses never reach the lookup function, so they are checked here.
    if (isIP(hostname) && !rules.permits(hostname, hostname)) callback(new UnreachableHost(REFUSED), null);
    else connect({ ...options, hostname }, callback);
  };
}

function notResolved(code: string | undefined): never {
  throw new UnreachableHost(`The host name cannot be resolved${code ? ` (${code})` : ""}.`);
}

/** Reads at most `limit` bytes of a body, and cuts a longer one. A body that breaks off is returned as incomplete: its status has already arrived. */
async function read(
  body: Dispatcher.ResponseData["body"],
  limit: number,
): Promise<{ readonly text: string; readonly complete: boolean; readonly cut?: true }> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size <= limit) continue;
      const text = Buffer.concat(chunks).subarray(0, limit).toString("utf8");
      return { text, complete: false, cut: true };
    }
    return { text: Buffer.concat(chunks).toString("utf8"), complete: true };
  } catch {
    return { text: Buffer.concat(chunks).toString("utf8"), complete: false };
  } finally {
    body.destroy();
  }
}

const isTimeout = (error: unknown) =>
  /Timeout/.test((error as Error).name) || /timeout/i.test((error as Error).message);

/** Why a request got no response, as a sentence that customers may see. */
export function failureOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted || isTimeout(error)) return "No answer in time.";
  if (error instanceof UnreachableHost) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  return `The connection failed${code ? ` (${code})` : ""}.`;
}
