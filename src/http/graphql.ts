import {
  ApolloServer,
  HeaderMap,
  type ApolloServerPlugin,
  type BaseContext,
  type GraphQLRequestContext,
  type GraphQLRequestContextResponseForOperation,
  type GraphQLResponse,
} from "@apollo/server";
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from "@apollo/server/plugin/disabled";
import {
  GraphQLError,
  OperationTypeNode,
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from "graphql";
import { LRUCache } from "lru-cache";
import { publicError } from "../platform/errors";
import { costOf, MOST_TOKENS, rulesOf } from "./graphql-limits";
import { aboutValue } from "./graphql-problems";
import { coded, refusedVariables, unknownOperation, withoutNames } from "./graphql-refusals";

/** A document compiled by the engine that REST uses too. */
export interface Compiled<Context> {
  readonly coerce: (values: Record<string, unknown>) => {
    readonly errors?: readonly GraphQLError[];
    readonly coerced?: Record<string, unknown>;
  };
  readonly run: (
    context: Context,
    variables: Record<string, unknown>,
  ) => Promise<{ readonly data?: unknown; readonly errors?: readonly GraphQLError[] }>;
}

export interface GraphQLOptions<Context extends BaseContext> {
  readonly schema: GraphQLSchema;
  readonly introspection: boolean;
  readonly compile: (document: DocumentNode, operationName: string | undefined) => Compiled<Context>;
  readonly warnings: (context: Context) => readonly string[];
  readonly format: (error: GraphQLError, context: Context) => GraphQLFormattedError;
}

interface Kept<Context> extends Compiled<Context> {
  /** Of a document without variables: it is always the same. */
  cost?: ReturnType<typeof costOf>;
}

/** How many compiled documents are kept; a dashboard has a few dozen. */
const KEPT_DOCUMENTS = 500;

/** Apollo with the limits of the service; what it runs, the engine runs. */
export function apolloServer<Context extends BaseContext>(
  options: GraphQLOptions<Context>,
): ApolloServer<Context> {
  return new ApolloServer<Context>({
    schema: options.schema,
    introspection: options.introspection,
    hideSchemaDetailsFromClientErrors: !options.introspection,
    includeStacktraceInErrorResponses: false,
    allowBatchedHttpRequests: false,
    csrfPrevention: {
      requestHeaders: ["x-apollo-operation-name", "apollo-require-preflight", "x-api-key", "authorization"],
    },
    parseOptions: { maxTokens: MOST_TOKENS },
    validationRules: rulesOf(),
    stopOnTerminationSignals: false,
    stringifyResult: (result) => `${JSON.stringify(result)}\n`,
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      compiledDocuments(options),
    ],
  });
}

/** Runs documents compiled instead of interpreted, and tells their cost. */
function compiledDocuments<Context extends BaseContext>(
  options: GraphQLOptions<Context>,
): ApolloServerPlugin<Context> {
  const documents = new LRUCache<string, Kept<Context>>({ max: KEPT_DOCUMENTS });
  return {
    requestDidStart: () =>
      Promise.resolve({
        didEncounterErrors: ({ errors, document }) => {
          for (const error of errors) {
            const told = document ? aboutValue(error, document) : error;
            const { details } = (options.introspection ? told : withoutNames(told)).extensions;
            if (details) error.extensions.details = details;
          }
          return Promise.resolve();
        },
        responseForOperation: (request) => answerOf(options, documents, request),
      }),
  };
}

/** Runs one operation, or refuses it. */
async function answerOf<Context extends BaseContext>(
  options: GraphQLOptions<Context>,
  documents: LRUCache<string, Kept<Context>>,
  request: GraphQLRequestContextResponseForOperation<Context>,
): Promise<GraphQLResponse> {
  const { document, queryHash, contextValue } = request;
  const operation = request.operation as OperationDefinitionNode | undefined; // Apollo asks without one too
  const { operationName } = request;
  if (!operation) return failed([unknownOperation(request.request.operationName)], "BAD_USER_INPUT");
  if (operation.operation === OperationTypeNode.SUBSCRIPTION)
    return failed([overWebSocket], "BAD_USER_INPUT");
  const key = `${queryHash} ${operationName ?? ""}`;
  const known: Kept<Context> = documents.get(key) ?? options.compile(document, operationName ?? undefined);
  documents.set(key, known);
  const sent = request.request.variables ?? {};
  const { errors: refused, coerced } = known.coerce(sent);
  if (refused) {
    return failed(refusedVariables(options, operation, sent, refused), "BAD_USER_INPUT");
  }
  // As they were sent: the cost coerces them itself, and an Upload can be coerced only once.
  const counted = known.cost ?? costOf(options.schema, document, operationName ?? undefined, sent);
  if (!operation.variableDefinitions?.length) known.cost = counted;
  if (counted.refusal) return failed([aboutValue(counted.refusal, document)], "BAD_USER_INPUT");
  const { cost, problem } = counted;
  if (problem) return failed([problem], "COST_LIMIT");
  return answered(options, request, await settled(known.run(contextValue, coerced ?? {})), { cost });
}

const overWebSocket = new GraphQLError("Subscriptions run over a WebSocket (graphql-ws) on this path.");

type Outcome = { readonly data?: unknown; readonly errors?: readonly GraphQLError[] };

/** A deadline or a lost database refuses the whole operation. */
const settled = (run: Promise<Outcome>): Promise<Outcome> =>
  run.catch((error: unknown) => ({
    data: null,
    errors: [new GraphQLError(publicError(error).message, { originalError: error as Error })],
  }));

function answered<Context extends BaseContext>(
  { format, warnings }: GraphQLOptions<Context>,
  { contextValue }: GraphQLRequestContext<Context>,
  { data, errors }: Outcome,
  extensions: Record<string, unknown>,
): GraphQLResponse {
  const told = warnings(contextValue);
  const singleResult = {
    ...(errors && { errors: errors.map((error) => format(error, contextValue)) }),
    data: data as Record<string, unknown> | null,
    extensions: { ...extensions, ...(told.length > 0 && { warnings: told }) },
  };
  const limited = singleResult.errors?.some(({ extensions }) => extensions?.code === "RATE_LIMITED");
  const http = { status: limited ? 429 : undefined, headers: new HeaderMap() };
  return { http, body: { kind: "single", singleResult } };
}

/** What is refused before it runs; the request's id is added to each such answer. */
function failed(errors: readonly GraphQLError[], code: string): GraphQLResponse {
  const singleResult = { errors: errors.map((error) => coded(error, code).toJSON()) };
  return { http: { status: 400, headers: new HeaderMap() }, body: { kind: "single", singleResult } };
}
