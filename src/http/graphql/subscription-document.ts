import {
  getOperationAST,
  getVariableValues,
  GraphQLError,
  OperationTypeNode,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLSchema,
  type ValidationRule,
} from "graphql";
import { invalid } from "../../platform/errors";
import { costOf, MAX_QUERY_BYTES, MAX_TOKENS, rulesOf } from "./graphql-limits";
import { withValueDetails } from "./graphql-problems";
import { withListHintIn } from "./list-hints";
import {
  alone,
  withCode,
  withNewCode,
  refusedVariables,
  unknownOperation,
  withoutNames,
} from "./graphql-refusals";

interface Options {
  readonly schema: GraphQLSchema;
  readonly introspection: boolean;
  /** The text of the operation that a payload names by id; see PersistedOperations. */
  readonly persisted?: { readonly textOf: (payload: SubscribePayload) => string | undefined } | undefined;
}

/** The payload of a graphql-ws subscribe message. */
export interface SubscribePayload {
  readonly query: string;
  readonly variables?: Record<string, unknown> | null | undefined;
  readonly operationName?: string | null | undefined;
  readonly extensions?: Record<string, unknown> | null | undefined;
}

/** The specification's validation rules and ours. */
export const subscriptionRules = (): readonly ValidationRule[] => [...specifiedRules, ...rulesOf()];

/**
 * Prepares a subscription, or returns the errors that the same document would have over HTTP, in the same order.
 * @throws BAD_USER_INPUT if the query is too long; PERSISTED_QUERY_NOT_IN_LIST
 */
export function subscriptionOf(
  options: Options,
  rules: readonly ValidationRule[],
  payload: SubscribePayload,
): ExecutionArgs | GraphQLError[] {
  const { schema, introspection } = options;
  const { variables, operationName } = payload;
  const query = options.persisted?.textOf(payload) ?? payload.query;
  if (Buffer.byteLength(query) > MAX_QUERY_BYTES)
    throw invalid([{ path: "query", message: "must be at most 64 KiB" }]);
  const whole = parseQuery(query);
  if (whole instanceof GraphQLError) return [whole];
  const problems = validate(schema, whole, rules).map((error) =>
    withListHintIn(schema, withValueDetails(error, whole)),
  );
  if (problems.length > 0)
    return (introspection ? problems : problems.map(withoutNames)).map((error) =>
      withNewCode(error, "GRAPHQL_VALIDATION_FAILED"),
    );
  const operation = getOperationAST(whole, operationName);
  if (!operation) return [withCode(unknownOperation(whole, operationName), "BAD_USER_INPUT")];
  const document = alone(whole, operation);
  const sent = variables ?? {};
  const { errors } = getVariableValues(schema, operation.variableDefinitions ?? [], sent, { maxErrors: 50 });
  if (errors)
    return refusedVariables(options, document, operation, sent, errors).map((error) =>
      withCode(error, "BAD_USER_INPUT"),
    );
  const counted = costOf(schema, document, sent);
  if (counted.refusal) return [withCode(withValueDetails(counted.refusal, document), "BAD_USER_INPUT")];
  if (counted.problem) return [withCode(counted.problem, "COST_LIMIT")];
  if (operation.operation !== OperationTypeNode.SUBSCRIPTION)
    return [withCode(subscriptionsOnly(introspection), "BAD_USER_INPUT")];
  return { schema, document, variableValues: sent };
}

function parseQuery(query: string): DocumentNode | GraphQLError {
  try {
    return parse(query, { maxTokens: MAX_TOKENS });
  } catch (error) {
    if (error instanceof GraphQLError) return withNewCode(error, "GRAPHQL_PARSE_FAILED");
    throw error;
  }
}

const subscriptionsOnly = (introspection: boolean) =>
  new GraphQLError(
    `Only subscriptions are supported over a WebSocket or an event stream${introspection ? "; send queries and mutations by POST, with Accept: application/json." : "."}`,
  );
