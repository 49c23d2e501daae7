import { HeaderMap, type GraphQLResponse } from "@apollo/server";
import type { GraphQLError, GraphQLFormattedError } from "graphql";
import { Attached } from "../../platform/attached";
import type { CostResult } from "./graphql-limits";
import { withCode } from "./graphql-refusals";

type Cost = CostResult["cost"];

export interface Extensions {
  readonly cost: Cost;
  /** Keys of the root fields whose results are those of an earlier request. */
  readonly replayed?: readonly string[];
}

interface SingleResult {
  readonly data: Record<string, unknown> | null;
  readonly errors?: readonly GraphQLFormattedError[];
}

/** Statuses of failed operations; the same errors before an operation have them too. Other failures have 200. */
const STATUSES: Readonly<Record<string, number>> = {
  ...{ RATE_LIMITED: 429, PAYLOAD_TOO_LARGE: 413 },
  ...{ IDEMPOTENCY_KEY_REUSED: 422, REQUEST_IN_PROGRESS: 409 },
};

/** The status of an answer. With the data of any field it is 200: a client would repeat the whole operation after 429. */
function statusOf({ data, errors }: SingleResult): number | undefined {
  if (!errors || Object.values(data ?? {}).some((value) => value !== null)) return undefined;
  return errors.map(({ extensions }) => STATUSES[String(extensions?.code)]).find(Boolean);
}

/** The codes of the errors of an answer, by the owner of its contexts. */
const codes = new Attached<readonly string[]>();

/** The codes of the errors of an operation that has run; none if it has not. */
export const codesOf = (owner: object): readonly string[] => codes.get(owner) ?? [];

/** Response to an operation that has run. */
export function answered(
  owner: object,
  {
    data,
    errors,
  }: { readonly data?: unknown; readonly errors?: readonly GraphQLFormattedError[] | undefined },
  extensions: Extensions,
  messages: readonly string[],
): GraphQLResponse {
  const { cost } = extensions;
  if (errors)
    codes.set(
      owner,
      errors.map(({ extensions }) => String(extensions?.code)),
    );
  const singleResult = {
    ...(errors && { errors }),
    data: data as Record<string, unknown> | null,
    extensions: { ...extensions, ...(messages.length > 0 && { warnings: messages }) },
  };
  return {
    http: { status: statusOf(singleResult), headers: costHeader(cost) },
    body: { kind: "single", singleResult },
  };
}

/** Response to an operation that is refused before it runs. The handler adds the request id. */
export function refusal(errors: readonly GraphQLError[], code: string, cost?: Cost): GraphQLResponse {
  const singleResult = { errors: errors.map((error) => withCode(error, code).toJSON()) };
  return { http: { status: 400, headers: costHeader(cost) }, body: { kind: "single", singleResult } };
}

/** The same header as on REST. */
const costHeader = (cost: Cost): HeaderMap => {
  const headers = new HeaderMap();
  if (cost) headers.set("graphql-cost", String(cost.requested));
  return headers;
};
