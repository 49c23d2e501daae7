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
import { invalid } from "../platform/errors";
import { costOf, MOST_QUERY_BYTES, MOST_TOKENS, rulesOf } from "./graphql-limits";
import { aboutValue } from "./graphql-problems";
import { coded, recoded, refusedVariables, unknownOperation, withoutNames } from "./graphql-refusals";

interface Options {
  readonly schema: GraphQLSchema;
  readonly introspection: boolean;
}

/** What a client of graphql-ws sends. */
interface Sent {
  readonly query: string;
  readonly variables?: Record<string, unknown> | null | undefined;
  readonly operationName?: string | null | undefined;
}

/** The specification's rules, and ours. */
export const subscriptionRules = (): readonly ValidationRule[] => [...specifiedRules, ...rulesOf()];

/**
 * A subscription that is ready to run, or why it is refused: with the errors that the same document has by HTTP, in the
 * same order.
 * @throws BAD_USER_INPUT for a query that is too long
 */
export function subscriptionOf(
  options: Options,
  rules: readonly ValidationRule[],
  { query, variables, operationName }: Sent,
): ExecutionArgs | GraphQLError[] {
  const { schema, introspection } = options;
  if (Buffer.byteLength(query) > MOST_QUERY_BYTES)
    throw invalid([{ path: "query", message: "must be at most 64 KiB" }]);
  const document = parsed(query);
  if (document instanceof GraphQLError) return [document];
  const problems = validate(schema, document, rules).map((error) => aboutValue(error, document));
  if (problems.length > 0)
    return (introspection ? problems : problems.map(withoutNames)).map((error) =>
      recoded(error, "GRAPHQL_VALIDATION_FAILED"),
    );
  const operation = getOperationAST(document, operationName);
  if (!operation) return [coded(unknownOperation(operationName), "BAD_USER_INPUT")];
  const sent = variables ?? {};
  const { errors } = getVariableValues(schema, operation.variableDefinitions ?? [], sent, { maxErrors: 50 });
  if (errors)
    return refusedVariables(options, operation, sent, errors).map((error) => coded(error, "BAD_USER_INPUT"));
  const counted = costOf(schema, document, operationName ?? undefined, sent);
  if (counted.refusal) return [coded(aboutValue(counted.refusal, document), "BAD_USER_INPUT")];
  if (counted.problem) return [coded(counted.problem, "COST_LIMIT")];
  if (operation.operation !== OperationTypeNode.SUBSCRIPTION)
    return [coded(notHere(introspection), "BAD_USER_INPUT")];
  return { schema, document, operationName, variableValues: sent };
}

function parsed(query: string): DocumentNode | GraphQLError {
  try {
    return parse(query, { maxTokens: MOST_TOKENS });
  } catch (error) {
    if (error instanceof GraphQLError) return recoded(error, "GRAPHQL_PARSE_FAILED");
    throw error;
  }
}

const notHere = (introspection: boolean) =>
  new GraphQLError(
    `Over the WebSocket only subscriptions run${introspection ? "; send queries and mutations by POST." : "."}`,
  );
