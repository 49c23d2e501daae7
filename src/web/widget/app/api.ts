import type { TypedDocument } from "../../typed-document";

/** An error of the service or the network. */
export class ApiError extends Error {
  constructor(
    /** The service's error code, or NETWORK if the service could not be reached. */
    readonly code: string,
    message: string,
    /** Delay before a retry in ms, if the service sends one. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

/** Whether a retry may succeed. */
export const isTransient = (error: unknown): boolean =>
  error instanceof ApiError &&
  ["NETWORK", "RATE_LIMITED", "UNAVAILABLE", "TIMEOUT", "DEADLINE_EXCEEDED"].includes(error.code);

const RETRY_PAUSE_MS = { min: 1_000, max: 20_000 };

/** Pause before a retry, in ms: as the service asks, else longer with each try. */
export const pauseBefore = (error: unknown, tries: number): number =>
  (error instanceof ApiError ? error.retryAfter : undefined) ??
  Math.min(RETRY_PAUSE_MS.min * 2 ** tries, RETRY_PAUSE_MS.max);

export const codeOf = (error: unknown): string => (error instanceof ApiError ? error.code : "INTERNAL");

interface GraphQLResponse<R> {
  readonly data?: { readonly result: R } | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

export type Credential = Readonly<Record<string, string>>;

const REQUEST_TIMEOUT_MS = 20_000;

/** Relative to the widget's pages, so that it works behind a proxy with a path prefix. */
export const ENDPOINT = new URL("../graphql", location.href);

/** An operation with one field, under the alias `result`. */
export type Operation<R, V> = TypedDocument<{ readonly result: R | null }, V>;

/** Runs an operation. @throws ApiError */
export async function request<R, V>(
  credential: Credential,
  query: Operation<R, V>,
  variables: NoInfer<V>,
): Promise<R> {
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(), REQUEST_TIMEOUT_MS);
  try {
    const response = await fetch(ENDPOINT.href, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...credential },
      body: JSON.stringify({ query, variables }),
      signal: giveUp.signal,
    });
    const answer = (await response.json()) as GraphQLResponse<R>;
    const [error] = answer.errors ?? [];
    if (error) {
      const seconds = Number(response.headers.get("Retry-After"));
      throw new ApiError(
        error.extensions?.code ?? (response.status === 429 ? "RATE_LIMITED" : "INTERNAL"),
        error.message,
        seconds > 0 ? seconds * 1_000 : undefined,
      );
    }
    return answer.data?.result as R; // null only if there are errors
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("NETWORK", `${ENDPOINT.origin} could not be reached.`);
  } finally {
    clearTimeout(timer);
  }
}
