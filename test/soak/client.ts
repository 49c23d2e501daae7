import { setTimeout as sleep } from "node:timers/promises";
import type { ServerProcess } from "./servers";

/** Time for which an operation is retried while servers and the database restart, in ms. */
const REQUEST_TIMEOUT_MS = 180_000;
const RETRY_PAUSE_MS = 250;
/** Statuses that call for a retry: unavailable, over a limit, or the same request still in flight. */
const RETRYABLE = new Set([409, 429, 503]);

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: string | FormData;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Sends requests to the available servers and counts the outcomes. */
export class Client {
  /** Number of attempts by outcome. */
  readonly outcomes = new Map<string, number>();
  /** Answers that no client may get. */
  readonly violations: string[] = [];
  readonly latenciesMs: number[] = [];
  private turn = 0;

  constructor(
    private readonly servers: readonly ServerProcess[],
    private readonly credential: Readonly<Record<string, string>>,
  ) {}

  /** The same servers with another credential; counted together. */
  as(credential: Readonly<Record<string, string>>): Client {
    const client = new Client(this.servers, credential);
    return Object.assign(client, {
      outcomes: this.outcomes,
      violations: this.violations,
      latenciesMs: this.latenciesMs,
    });
  }

  /**
   * Repeats a request on one server after another until it gets a final answer. It must be safe to repeat.
   * @throws Error if no server answers in time
   */
  async insist(make: () => Request): Promise<Answer> {
    for (
      const until = performance.now() + REQUEST_TIMEOUT_MS;
      performance.now() < until;
      await sleep(RETRY_PAUSE_MS)
    ) {
      const answer = await this.once(make());
      if (answer && !RETRYABLE.has(answer.status)) return answer;
    }
    const { method, path } = make();
    this.violations.push(`${method} ${path}: not answered for ${REQUEST_TIMEOUT_MS / 1_000} s`);
    throw new Error("not answered");
  }

  /** Makes one attempt. @returns undefined if the connection failed */
  async once({ method, path, body, headers }: Request): Promise<Answer | undefined> {
    const server = this.servers[this.turn++ % this.servers.length]!;
    const began = performance.now();
    try {
      const response = await fetch(server.url + path, {
        method,
        headers: { ...this.credential, ...headers },
        ...(body !== undefined && { body }),
        signal: AbortSignal.timeout(65_000),
      });
      const text = await response.text();
      this.latenciesMs.push(performance.now() - began);
      this.count(String(response.status));
      if (response.status >= 500 && response.status !== 503)
        this.violations.push(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
      return { status: response.status, text };
    } catch {
      this.count("connection failed");
      return undefined;
    }
  }

  /**
   * Sends a REST request with a JSON body. POSTs have an Idempotency-Key, so that repetitions have no further effect.
   */
  async rest<T>(method: string, path: string, expected: number, body?: unknown): Promise<T> {
    const headers = {
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...(method === "POST" && { "Idempotency-Key": crypto.randomUUID() }),
    };
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = await this.insist(() => ({
      method,
      path,
      headers,
      ...(text !== undefined && { body: text }),
    }));
    return this.expect(`${method} ${path}`, answer, expected) as T;
  }

  /** The data of a GraphQL operation that is safe to repeat. */
  async gql<T>(query: string, variables: object = {}): Promise<T> {
    const body = JSON.stringify({ query, variables });
    const headers = { "Content-Type": "application/json" };
    for (
      const until = performance.now() + REQUEST_TIMEOUT_MS;
      performance.now() < until;
      await sleep(RETRY_PAUSE_MS)
    ) {
      const answer = await this.insist(() => ({ method: "POST", path: "/graphql", body, headers }));
      const { data, errors } = JSON.parse(answer.text) as {
        data: T;
        errors?: { message: string; extensions: { code: string } }[];
      };
      if (!errors) return data;
      const [{ extensions, message }] = errors as [{ message: string; extensions: { code: string } }];
      if (["UNAVAILABLE", "TIMEOUT", "RATE_LIMITED"].includes(extensions.code)) continue;
      this.violations.push(`GraphQL ${query.slice(0, 60)}: ${extensions.code} ${message.slice(0, 200)}`);
      throw new Error(message);
    }
    throw new Error("not answered");
  }

  expect(what: string, { status, text }: Answer, expected: number): unknown {
    if (status === expected) return text === "" ? undefined : (JSON.parse(text) as unknown);
    this.violations.push(`${what}: ${status} instead of ${expected}: ${text.slice(0, 300)}`);
    throw new Error(`${what}: ${status}`);
  }

  private count(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }
}
