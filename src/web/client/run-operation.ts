import { graphQLError, ParleyError, type GraphQLErrorFields } from "./parley-error";
import { send, type SendOptions } from "./send";

/**
 * A GraphQL document: its text, or what GraphQL Code Generator and `gql` make of it. The types of its result and its
 * variables are those of a TypedDocumentNode or TypedDocumentString.
 */
export type Document<Result, Variables> = (string | object) & {
  readonly __apiType?: ((variables: Variables) => Result) | undefined;
};

export interface GraphQLOptions {
  readonly signal?: AbortSignal | undefined;
  /** Key of a mutation. Default: a new one. Pass your own to repeat a mutation in another process. */
  readonly idempotencyKey?: string | undefined;
}

/** The variables are left out if all of them may be. */
export type VariablesOf<Variables> =
  Record<string, never> extends Variables
    ? [variables?: Variables, options?: GraphQLOptions]
    : [variables: Variables, options?: GraphQLOptions];

export interface GraphQLResult {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLErrorFields[];
  readonly extensions?: { readonly warnings?: readonly string[] };
}

/** The text of a document. A printer loads only for documents that have no text any more. */
export async function textOf(document: string | object): Promise<string> {
  if (typeof document === "string") return document;
  if (!("kind" in document)) return String(document as unknown);
  const { loc } = document as { loc?: { source: { body: string } } };
  return loc?.source.body ?? (await import("./print.js")).print(document as never);
}

/** Whether a text has a mutation, outside comments. */
const isMutation = (text: string) => /(^|\})\s*mutation\b/.test(text.replaceAll(/#.*/g, ""));

/**
 * Runs a query or mutation.
 * @throws ParleyError; if the operation failed in part, with the rest in `data`
 */
export async function runOperation(
  url: string,
  options: SendOptions,
  document: string | object,
  variables: unknown,
  { signal, idempotencyKey }: GraphQLOptions = {},
): Promise<unknown> {
  const query = await textOf(document);
  const key = isMutation(query) ? (idempotencyKey ?? crypto.randomUUID()) : undefined;
  const request = new Request(url, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/graphql-response+json, application/json",
      ...(key !== undefined && { "Idempotency-Key": key }),
    },
    body: JSON.stringify({ query, variables }),
    signal: signal ?? null,
  });
  const response = await send(options, request, true);
  const result = await resultOf(url, response);
  for (const warning of result.extensions?.warnings ?? []) options.onWarning?.(warning);
  return dataOf(result, response.status);
}

/** The result in a response. @throws ParleyError if it has none */
export async function resultOf(url: string, response: Response): Promise<GraphQLResult> {
  const result: unknown = await response.json().catch(() => undefined);
  if (typeof result === "object" && result !== null && ("data" in result || "errors" in result))
    return result as GraphQLResult;
  const message = `${url} answered with status ${response.status} and not with JSON of GraphQL.`;
  throw new ParleyError(message, { code: "INVALID_RESPONSE", status: response.status });
}

/** @throws ParleyError if the result has errors */
export function dataOf({ data, errors }: GraphQLResult, status?: number): unknown {
  if (errors?.length)
    throw graphQLError(errors, { data, ...(status !== undefined && status !== 200 && { status }) });
  return data;
}
