import { validateHeaderValue } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { currentTime } from "../../platform/clock";
import { BrokenOffError, request, TooLongError } from "./request";

/** Stops the import while a service is away. What was stored stays, and the same command continues it. */
export class ImportStoppedError extends Error {}

/** Stops the import because of a key or an address: the same command would fail again. */
export class DeniedError extends Error {}

/** A request that a service refuses, or fails to answer although others work: the import goes on without it. */
export class RefusedError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
  /** The header Location of a redirect. */
  readonly location?: string | undefined;
}

export interface HttpOptions {
  /** Name of the service in messages. */
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Longest time to wait for a service that does not answer or asks to wait, in milliseconds. */
  readonly patienceMs: number;
  readonly say: (line: string) => void;
}

export interface Sent {
  readonly method?: "GET" | "POST";
  readonly body?: string | FormData;
  readonly headers?: Readonly<Record<string, string>>;
  /** Why an answer with a status of success must be asked for again; undefined if it is final. */
  readonly problemIn?: (answer: Answer) => string | undefined;
  /** Length of the longest answer that is read, as the content of one file. Default: 256 MiB. */
  readonly mostBytes?: number;
}

const TIMEOUT_MS = 120_000;
const MIB = 1024 * 1024;
/** JSON beyond this length would not fit into the memory of small machines. */
const MOST_BYTES = 256 * MIB;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** Tries of a request that fails with status 500, or of a file whose content breaks off: others may succeed. */
const TRIES_OF_ONE = 4;
/** Tries of a request after which a service that asks for no pause gets one nevertheless. */
const TRIES_AT_ONCE = 5;
const ASKS_TO_WAIT = new Set([408, 425, 429]);

type Try =
  | { readonly answer: Answer; readonly pauseMs?: number }
  | { readonly failure: string; readonly isBrokenOff: boolean };

/** Sends requests to a service, and waits while it is overloaded, broken or away. */
export class Http {
  /** @throws DeniedError if no header can have the key */
  constructor(private readonly options: HttpOptions) {
    for (const [name, value] of Object.entries(options.headers)) checkHeader(name, value);
  }

  /**
   * @throws ImportStoppedError after the longest wait; RefusedError if the request fails again and again with 500, or the content
   * of a file breaks off
   */
  async send(url: string, sent: Sent = {}): Promise<Answer> {
    const { patienceMs, say } = this.options;
    const name = `${this.options.name} at ${new URL(url).origin}`; // without credentials, and what a link may contain
    for (let [tries, breaks, failedAt] = [1, 0, 0]; ; tries++) {
      const tried = await this.try(url, sent);
      const problem = problemOf(tried, sent);
      if (problem === undefined && "answer" in tried) return tried.answer;
      if ("answer" in tried && tried.answer.status === 500 && tries >= TRIES_OF_ONE)
        throw new RefusedError(500, `${name} failed with status 500 each of ${tries} times.`);
      if (
        "failure" in tried &&
        tried.isBrokenOff &&
        sent.mostBytes !== undefined &&
        ++breaks === TRIES_OF_ONE
      )
        throw new RefusedError(200, `${name} broke off the answer ${breaks} times.`);
      if (tries === 1) failedAt = performance.now();
      const waited = Math.round(performance.now() - failedAt); // with the time of tries: a hanging service fails slowly
      const left = patienceMs - waited;
      const pause = pauseAfter(tried, tries, left);
      if (left <= 0 || pause > left)
        throw new ImportStoppedError(`${name} ${problem}, also after ${Math.round(waited / 1_000)} s.`);
      say(`${name} ${problem}. Trying again in ${Math.ceil(pause / 1_000)} s.`);
      await sleep(pause);
    }
  }

  private async try(
    url: string,
    { method = "GET", body, headers, mostBytes = MOST_BYTES }: Sent,
  ): Promise<Try> {
    try {
      const response = await request(url, {
        method,
        headers: { ...this.options.headers, ...headers },
        ...(body !== undefined && { body }),
        timeoutMs: TIMEOUT_MS,
        mostBytes,
      });
      const pauseMs = pauseIn(response.headers["retry-after"]);
      const type = response.headers["content-type"] ?? "";
      const { location } = response.headers;
      const answer = { status: response.status, type, body: response.body, location };
      return { answer, ...(pauseMs !== undefined && { pauseMs }) };
    } catch (error) {
      if (error instanceof TooLongError)
        throw new RefusedError(200, tooLong(this.options.name, url, mostBytes));
      return { failure: reasonOf(error), isBrokenOff: error instanceof BrokenOffError };
    }
  }
}

function checkHeader(name: string, value: string): void {
  try {
    validateHeaderValue(name, value);
  } catch (error) {
    throw new DeniedError(
      "The key has a line break or another character that no key has, such as …: copy the whole key again.",
      { cause: error },
    );
  }
}

const tooLong = (name: string, url: string, bytes: number): string =>
  `${name} at ${new URL(url).origin} answers with more than ${bytes < MIB ? `${bytes} bytes` : `${Math.floor(bytes / MIB)} MiB`}.`;

/** Names the target of a redirect, after the status in a sentence. Redirects are not followed: the target must not get the key. */
export function redirectIn({ status, location }: Answer): string {
  const [address] = location?.split(/[?#]/, 1) ?? []; // what follows may be a secret
  return status >= 300 && status < 400 && address ? `, which redirects to ${address}` : "";
}

function problemOf(tried: Try, { problemIn }: Sent): string | undefined {
  if ("failure" in tried) return `cannot be reached (${tried.failure})`;
  const { status } = tried.answer;
  if (status >= 500) return `failed with status ${status}`;
  if (ASKS_TO_WAIT.has(status)) return `asks to wait (status ${status})`;
  return problemIn?.(tried.answer);
}

/** The time before the next try: as the service asks, else longer each time, up to what is left. */
function pauseAfter(tried: Try, tries: number, left: number): number {
  const asked = "pauseMs" in tried ? tried.pauseMs : undefined;
  if (asked !== undefined && (asked > 0 || tries <= TRIES_AT_ONCE)) return asked;
  return Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS, left);
}

/** The time that the header Retry-After names, in milliseconds: seconds or a date. */
function pauseIn(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === "") return undefined;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - currentTime() : seconds * 1_000;
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}

function reasonOf(error: unknown): string {
  if (error instanceof BrokenOffError) return "its answer broke off";
  const { code, message } = error as Error & { readonly code?: unknown };
  if (code === "EPROTO") return "TLS failed; does its address begin with http://?";
  return typeof code === "string" ? code : message;
}
