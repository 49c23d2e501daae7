import {
  ApolloServer,
  type ApolloServerPlugin,
  type BaseContext,
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
  type GraphQLFormattedError,
  type OperationDefinitionNode,
} from "graphql";
import { LRUCache } from "lru-cache";
import { publicError } from "../../platform/errors";
import { answered, refusal, type Extensions } from "./graphql-answers";
import { cachedDocument, type CachedDocument, type CompileOptions } from "./cached-document";
import { MAX_TOKENS, rulesOf } from "./graphql-limits";
import { withValueDetails } from "./graphql-problems";
import { undeclaredVariables } from "./ignored-names";
import { withListHint } from "./list-hints";
import {
  identityOf,
  runRepeatably,
  type OperationResult,
  type Part,
  type Repeatable,
} from "./repeatable-mutations";
import {
  alone,
  refusedVariables,
  unknownOperation,
  withoutLibraries,
  withoutNames,
} from "./graphql-refusals";

export interface GraphQLOptions<Context extends BaseContext> extends CompileOptions<Context> {
  readonly introspection: boolean;
  /** Runs an operation of some cost when few other large ones are under way. */
  readonly largeLimited: <R>(cost: number, work: () => Promise<R>) => Promise<R>;
  /** An object that all copies of a context share: Apollo copies it. */
  readonly ownerOf: (context: Context) => object;
  readonly warnings: (context: Context) => readonly string[];
  /** The services for a request with an Idempotency-Key; undefined without one. */
  readonly repeatable: (context: Context) => Repeatable<Context> | undefined;
  /** Warns that a header has no effect. */
  readonly warn: (context: Context, text: string) => void;
  readonly format: (error: GraphQLError, context: Context) => GraphQLFormattedError;
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
  const known = documents.get(key) ?? cachedDocument(options, document);
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
  if (problem) return refusal([problem], "COST_LIMIT", cost);
  for (const text of undeclaredVariables(operation, sent)) options.warn(contextValue, text);
  const repeatable = options.repeatable(contextValue);
  if (repeatable && operation.operation === OperationTypeNode.MUTATION)
    return answeredOnce(options, request, repeatable, known.parts(coerced ?? {}), { cost });
  if (repeatable) options.warn(contextValue, KEY_UNUSED);
  const { data, errors } = await catchFailure(
    options.largeLimited(cost?.requested ?? 0, () => known.run(contextValue, coerced ?? {})),
  );
  const formatted = errors?.map((error) => options.format(error, contextValue));
  return answeredFor(options, contextValue, { data, errors: formatted }, { cost });
}

const answeredFor = <Context extends BaseContext>(
  { ownerOf, warnings }: GraphQLOptions<Context>,
  context: Context,
  result: Parameters<typeof answered>[1],
  extensions: Extensions,
) => answered(ownerOf(context), result, extensions, warnings(context));

const KEY_UNUSED = "The header Idempotency-Key was ignored: only mutations support it.";

/** Runs a mutation with an Idempotency-Key. */
async function answeredOnce<Context extends BaseContext>(
  options: GraphQLOptions<Context>,
  request: GraphQLRequestContextResponseForOperation<Context>,
  repeatable: Repeatable<Context>,
  parts: readonly Part<Context>[],
  extensions: Extensions,
): Promise<GraphQLResponse> {
  const { contextValue, queryHash, operationName } = request;
  const format = (error: GraphQLError) => options.format(error, contextValue);
  try {
    const content = [queryHash, operationName, await identityOf(request.request.variables ?? {})];
    const { data, errors, replayed } = await runRepeatably(repeatable, parts, content, format);
    const more = replayed.length > 0 ? { ...extensions, replayed } : extensions;
    const result = { data, errors: errors.length > 0 ? errors : undefined };
    const answer = answeredFor(options, contextValue, result, more);
    if (replayed.length > 0 && replayed.length === Object.keys(data).length)
      answer.http.headers.set("idempotency-replayed", "true");
    return answer;
  } catch (error) {
    const failure = format(new GraphQLError((error as Error).message, { originalError: error as Error }));
    const result = { data: null, errors: [failure] };
    return answeredFor(options, contextValue, result, extensions);
  }
}

const overWebSocket = new GraphQLError(
  "Subscriptions need a WebSocket with the protocol graphql-transport-ws on this path, or Accept: text/event-stream.",
);

/** Timeouts and a lost database connection fail the whole operation. */
const catchFailure = (run: Promise<OperationResult>): Promise<OperationResult> =>
  run.catch((error: unknown) => ({
    data: null,
    errors: [new GraphQLError(publicError(error).message, { originalError: error as Error })],
  }));
