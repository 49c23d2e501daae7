import type { TypedDocument } from "../../typed-document";

/** What the service, or the way to it, did not do. */
export class ApiError extends Error {
  constructor(
    /** A stable word of the service, or NETWORK where it wasn't reached. */
    readonly code: string,
    message: string,
    /** In milliseconds, where the service says so. */
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

/** Whether the same may succeed later, without anybody changing anything. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ApiError &&
  ["NETWORK", "RATE_LIMITED", "UNAVAILABLE", "TIMEOUT", "DEADLINE_EXCEEDED"].includes(error.code);

export const codeOf = (error: unknown): string => (error instanceof ApiError ? error.code : "INTERNAL");

interface Answer<R> {
  readonly data?: { readonly result: R } | null;
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[];
}

export type Credential = Readonly<Record<string, string>>;

const REQUEST_TIMEOUT_MS = 20_000;

/** Beside the widget's pages, also where a proxy serves them under a path. */
export const ENDPOINT = new URL("../graphql", location.href);

/** An operation with one field, called `result`. */
export type Operation<R, V> = TypedDocument<{ readonly result: R }, V>;

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
    const answer = (await response.json()) as Answer<R>;
    const [error] = answer.errors ?? [];
    if (error) {
      const seconds = Number(response.headers.get("Retry-After"));
      throw new ApiError(
        error.extensions?.code ?? (response.status === 429 ? "RATE_LIMITED" : "INTERNAL"),
        error.message,
        seconds > 0 ? seconds * 1_000 : undefined,
      );
    }
    return answer.data?.result as R; // null only with errors
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("NETWORK", `${ENDPOINT.origin} was not reached.`);
  } finally {
    clearTimeout(timer);
  }
}
