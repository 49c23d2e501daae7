import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Fields } from "./kinds";
import type { Schemas } from "./check";

/** An error of the server about a refused request. */
export class RequestError extends Error {
  constructor(
    message: string,
    readonly code: string,
    /** Invalid values, by their paths in the variables. */
    readonly details: readonly { readonly path: string; readonly message: string }[] = [],
    /** Place in the file of what was sent, if that is a part of it. */
    readonly at: readonly (string | number)[] = [],
  ) {
    super(message);
    this.name = "RequestError";
  }

  /** Whether the server has answered, and has changed nothing. */
  get isRefusal(): boolean {
    return !["NETWORK", "INTERNAL", "INVALID_RESPONSE"].includes(this.code);
  }
}

/** Runs requests about a part of a file. @throws RequestError with its place */
export async function about<T>(at: RequestError["at"], request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw new RequestError(error.message, error.code, error.details, at);
  }
}

interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { readonly code?: string; readonly details?: RequestError["details"] };
  }[];
  readonly extensions?: { readonly warnings?: readonly string[] };
  readonly code?: string;
  readonly message?: string;
}

const TIMEOUT_MS = 75_000;
const RETRIES = 3;
const PAUSE_MS = { min: 500, max: 30_000 };
const PASSING = [429, 502, 503, 504];

/** A server, with the SECRET key of an organization. */
export class Connection {
  readonly url: string;
  private warnings: string[] = [];

  /** @throws Error if the URL is none */
  constructor(
    url: string,
    private readonly key: string,
  ) {
    if (!/^https?:/.test(url) || !URL.canParse(url))
      throw new Error(`The address of the server must begin with http:// or https://; got "${url}".`);
    this.url = new URL(url).href.replace(/\/$/, "");
  }

  /** Runs a query or mutation. A mutation that is repeated takes effect once. @throws RequestError */
  graphql<T>(query: string, variables: Fields = {}): Promise<T> {
    return this.run<T>(query, () => ({
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ query, variables }),
    }));
  }

  /** The warnings of answers since the last call. */
  takeWarnings(): string[] {
    const taken = this.warnings;
    this.warnings = [];
    return taken;
  }

  /** Uploads a file. @returns its id. @throws RequestError */
  async upload(name: string, content: Uint8Array<ArrayBuffer>, metadata: Fields): Promise<string> {
    const query =
      "mutation ($file: Upload!, $metadata: JSONObject) { file: uploadFile(file: $file, metadata: $metadata) { id } }";
    const { file } = await this.run<{ file: { id: string } }>(query, () => {
      const form = new FormData();
      form.set("operations", JSON.stringify({ query, variables: { file: null, metadata } }));
      form.set("map", JSON.stringify({ 0: ["variables.file"] }));
      form.set("0", new Blob([content]), name);
      return { headers: {}, body: form };
    });
    return file.id;
  }

  /** The content behind a link that the server has given. @throws RequestError */
  async download(url: string): Promise<Uint8Array<ArrayBuffer>> {
    const response = await this.send(url, () => ({}));
    if (!response.ok) throw new RequestError(`${url} answered with status ${response.status}.`, "DOWNLOAD");
    return new Uint8Array(await response.arrayBuffer());
  }

  /** The JSON Schemas of files for this server. @throws RequestError */
  async schemas(kinds: readonly string[]): Promise<Schemas> {
    const all = kinds.map(async (kind) => {
      const url = `${this.url}/schemas/${kind}.json`;
      const response = await this.send(url, () => ({}));
      if (response.ok) return [kind, (await response.json()) as object] as const;
      throw new RequestError(
        `${url} answered with status ${response.status}. Is this the address of a Parley server of this version?`,
        "NOT_FOUND",
      );
    });
    return Object.fromEntries(await Promise.all(all));
  }

  private async run<T>(query: string, request: () => RequestInit): Promise<T> {
    const url = `${this.url}/graphql`;
    const headers = {
      "X-API-Key": this.key,
      ...(query.startsWith("mutation") && { "Idempotency-Key": randomUUID() }),
    };
    const response = await this.send(url, () => {
      const init = request();
      return { ...init, method: "POST", headers: { ...headers, ...(init.headers as object) } };
    });
    const answer = (await response.json().catch(() => undefined)) as Answer | undefined;
    this.warnings.push(...(answer?.extensions?.warnings ?? []));
    const [error] = answer?.errors ?? [];
    if (error) {
      const { code = "INTERNAL", details } = error.extensions ?? {};
      throw new RequestError(error.message, code, details);
    }
    if (answer?.data != null) return answer.data as T;
    throw new RequestError(
      answer?.message ?? `${url} answered with status ${response.status} and not with JSON of GraphQL.`,
      answer?.code ?? "INVALID_RESPONSE",
    );
  }

  /** Sends a request, and repeats it after failures that pass. */
  private async send(url: string, init: () => RequestInit): Promise<Response> {
    for (let tries = 0; ; tries++) {
      const isLast = tries === RETRIES;
      let wait = PAUSE_MS.min * 2 ** tries;
      try {
        const response = await fetch(url, { ...init(), signal: AbortSignal.timeout(TIMEOUT_MS) });
        if (isLast || !PASSING.includes(response.status)) return response;
        await response.body?.cancel();
        wait = Number(response.headers.get("Retry-After")) * 1_000 || wait;
      } catch (error) {
        if (isLast) throw new RequestError(`${url} could not be reached: ${reasonOf(error)}.`, "NETWORK");
      }
      await pause(Math.min(wait, PAUSE_MS.max));
    }
  }
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  const { message: reason, code } = (cause ?? {}) as { message?: string; code?: string };
  return reason || code || message; // the message of an AggregateError is empty
}
