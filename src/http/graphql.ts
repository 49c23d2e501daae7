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
import { DocumentCost } from "./document-cost";
import { MAX_TOKENS, rulesOf } from "./graphql-limits";
import { withValueDetails } from "./graphql-problems";
import { withListHint } from "./list-hints";
import {
  alone,
  withCode,
  refusedVariables,
  unknownOperation,
  withoutLibraries,
  withoutNames,
} from "./graphql-refusals";

/** A document compiled by the engine that REST uses too. */
export interface CompiledDocument<Context> {
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
  /** Compiles a document with one operation. */
  readonly compile: (document: DocumentNode) => CompiledDocument<Context>;
  readonly warnings: (context: Context) => readonly string[];
  readonly format: (error: GraphQLError, context: Context) => GraphQLFormattedError;
}

interface CachedDocument<Context> extends CompiledDocument<Context> {
  readonly cost: DocumentCost;
}

/** Size of the cache of compiled documents; a dashboard uses a few dozen. */
const MAX_CACHED_DOCUMENTS = 500;

/** Apollo with the service's limits; compiled documents run in the shared engine. */
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
    parseOptions: { maxTokens: MAX_TOKENS },
    validationRules: rulesOf(),
    stopOnTerminationSignals: false,
    formatError: (error) => withKnownCode(withoutLibraries(error)),
    stringifyResult: (result) => JSON.stringify(result),
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      compiledDocuments(options),
    ],
  });
}

/** Apollo gives errors about persisted queries no code, which then is the code of a fault of the server. */
const withKnownCode = (error: GraphQLFormattedError): GraphQLFormattedError =>
  /^`extensions\.persistedQuery/.test(error.message)
    ? { ...error, extensions: { ...error.extensions, code: "BAD_REQUEST" } }
    : error;

/** Runs compiled documents instead of interpreting them, and reports their cost. */
function compiledDocuments<Context extends BaseContext>(
  options: GraphQLOptions<Context>,
): ApolloServerPlugin<Context> {
  const documents = new LRUCache<string, CachedDocument<Context>>({ max: MAX_CACHED_DOCUMENTS });
  return {
    requestDidStart: () =>
      Promise.resolve({
        didEncounterErrors: ({ errors, document }) => {
          for (const error of errors) {
            if (options.introspection) error.message = withListHint(options.schema, error.message);
            const detailedError = document ? withValueDetails(error, document) : error;
            const { details } = (options.introspection ? detailedError : withoutNames(detailedError))
              .extensions;
            if (details) error.extensions.details = details;
          }
          return Promise.resolve();
        },
        responseForOperation: (request) => answerOf(options, documents, request),
      }),
  };
}

/** Runs one operation or refuses it. */
async function answerOf<Context extends BaseContext>(
  options: GraphQLOptions<Context>,
  documents: LRUCache<string, CachedDocument<Context>>,
  request: GraphQLRequestContextResponseForOperation<Context>,
): Promise<GraphQLResponse> {
  const { queryHash, contextValue } = request;
  const operation = request.operation as OperationDefinitionNode | undefined; // Apollo also calls this without an operation
  const { operationName } = request;
  if (!operation)
    return refusal([unknownOperation(request.document, request.request.operationName)], "BAD_USER_INPUT");
  if (operation.operation === OperationTypeNode.SUBSCRIPTION)
    return refusal([overWebSocket], "BAD_USER_INPUT");
  const document = alone(request.document, operation);
  const key = `${queryHash} ${operationName ?? ""}`;
  const known = documents.get(key) ?? compiled(options, document);
  documents.set(key, known);
  const sent = request.request.variables ?? {};
  const { errors: refused, coerced } = known.coerce(sent);
  if (refused) {
    return refusal(refusedVariables(options, document, operation, sent, refused), "BAD_USER_INPUT");
  }
  // Raw values: the cost function coerces them itself, and an Upload can be coerced only once.
  const counted = known.cost.of(sent);
  if (counted.refusal) return refusal([withValueDetails(counted.refusal, document)], "BAD_USER_INPUT");
  const { cost, problem } = counted;
  if (problem) return refusal([problem], "COST_LIMIT");
  return answered(options, request, await catchFailure(known.run(contextValue, coerced ?? {})), { cost });
}

const compiled = <Context extends BaseContext>(
  { compile, schema }: GraphQLOptions<Context>,
  document: DocumentNode,
): CachedDocument<Context> => ({ ...compile(document), cost: new DocumentCost(schema, document) });

const overWebSocket = new GraphQLError(
  "Subscriptions need a WebSocket with the protocol graphql-transport-ws on this path.",
);

interface SingleResult {
  readonly data: Record<string, unknown> | null;
  readonly errors?: readonly GraphQLFormattedError[];
}

type OperationResult = { readonly data?: unknown; readonly errors?: readonly GraphQLError[] };

/** Timeouts and a lost database connection fail the whole operation. */
const catchFailure = (run: Promise<OperationResult>): Promise<OperationResult> =>
  run.catch((error: unknown) => ({
    data: null,
    errors: [new GraphQLError(publicError(error).message, { originalError: error as Error })],
  }));

/** Statuses of failed operations; the same errors before an operation have them too. Other failures have 200. */
const STATUSES: Readonly<Record<string, number>> = { RATE_LIMITED: 429, PAYLOAD_TOO_LARGE: 413 };

/** The status of an answer. With the data of any field it is 200: a client would repeat the whole operation after 429. */
function statusOf({ data, errors }: SingleResult): number | undefined {
  if (!errors || Object.values(data ?? {}).some((value) => value !== null)) return undefined;
  return errors.map(({ extensions }) => STATUSES[String(extensions?.code)]).find(Boolean);
}

function answered<Context extends BaseContext>(
  { format, warnings }: GraphQLOptions<Context>,
  { contextValue }: GraphQLRequestContext<Context>,
  { data, errors }: OperationResult,
  extensions: Record<string, unknown>,
): GraphQLResponse {
  const messages = warnings(contextValue);
  const singleResult = {
    ...(errors && { errors: errors.map((error) => format(error, contextValue)) }),
    data: data as Record<string, unknown> | null,
    extensions: { ...extensions, ...(messages.length > 0 && { warnings: messages }) },
  };
  return {
    http: { status: statusOf(singleResult), headers: new HeaderMap() },
    body: { kind: "single", singleResult },
  };
}

/** Response to an operation that is refused before it runs. The handler adds the request id. */
function refusal(errors: readonly GraphQLError[], code: string): GraphQLResponse {
  const singleResult = { errors: errors.map((error) => withCode(error, code).toJSON()) };
  return { http: { status: 400, headers: new HeaderMap() }, body: { kind: "single", singleResult } };
}
