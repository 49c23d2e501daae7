import {
  createGraphiQLFetcher,
  isAsyncIterable,
  isPromise,
  type Fetcher,
  type FetcherOpts,
  type FetcherParams,
  type SyncFetcherResult,
} from "@graphiql/toolkit";
import { GraphQLError, Kind, parse, type ExecutionResult } from "graphql";
import { CloseCode, createClient, type Client } from "graphql-ws";
import { learn } from "./fill-ids";
import { currentKey } from "./key";
import { textFilesOf, upload } from "./upload";

const endpoint = new URL("/graphql", location.href);
const socket = new URL(endpoint);
socket.protocol = location.protocol === "https:" ? "wss:" : "ws:";

/** The headers of the editor, and the entered key unless they contain a credential. Empty ones are left out. */
function headersOf(typed: FetcherOpts["headers"]): Record<string, string> {
  const filled = Object.entries(typed ?? {}).filter(([, value]) => value !== "") as [string, string][];
  const hasCredential = filled.some(([name]) => /^(x-api-key|authorization)$/i.test(name));
  const key = currentKey();
  return { ...(key && !hasCredential && { "X-API-Key": key }), ...Object.fromEntries(filled) };
}

const REFUSED: number = CloseCode.Forbidden;

/** Reopens a broken socket; shows the reason if it was refused. */
function clientWith(connectionParams: Record<string, string>): Client {
  const client = createClient({
    url: socket.href,
    connectionParams,
    shouldRetry: (cause) => cause instanceof CloseEvent && cause.code !== REFUSED,
  });
  return {
    ...client,
    subscribe: (request, sink) => {
      const error = (cause: unknown) => {
        if (!(cause instanceof CloseEvent)) return sink.error(cause);
        sink.next({ errors: [new GraphQLError(`The socket was closed: ${cause.code} ${cause.reason}`)] });
        sink.complete();
      };
      return client.subscribe(request, { ...sink, error });
    },
  };
}

/** Sends a request as JSON, or over a socket with the same headers in the connection_init payload. */
const send = (request: FetcherParams, options: FetcherOpts, headers: Record<string, string>) =>
  createGraphiQLFetcher({
    url: endpoint.href,
    wsClient: clientWith(headers),
    enableIncrementalDelivery: false,
  })(request, { ...options, headers });

/** Names a request's operation by its text: just after a tab is opened, the editor still names that of the tab before. */
function ownOperation(request: FetcherParams, options: FetcherOpts): [FetcherParams, FetcherOpts] {
  try {
    const documentAST = parse(request.query);
    const names = documentAST.definitions.flatMap((node) =>
      node.kind === Kind.OPERATION_DEFINITION ? (node.name?.value ?? []) : [],
    );
    const wanted = request.operationName ?? undefined;
    const operationName =
      wanted !== undefined && names.includes(wanted) ? wanted : names.length === 1 ? names[0] : undefined;
    return [
      { ...request, operationName },
      { ...options, documentAST },
    ];
  } catch {
    return [request, options]; // the service names the syntax error
  }
}

/** Number of a subscription's events to show. */
const MAX_EVENTS = 100;

/** Shows the events of a subscription as a list, the latest first: GraphiQL shows only the latest result. */
function gathered(results: AsyncIterable<ExecutionResult>): AsyncIterableIterator<ExecutionResult> {
  const iterator = results[Symbol.asyncIterator]();
  let events: unknown[] = [];
  const listed = (result: ExecutionResult): ExecutionResult => {
    const [field] = Object.entries((result as { data?: object }).data ?? {}); // a subscription has one
    if (!field) return result;
    const [name, event] = field as [string, unknown];
    events = [event, ...events].slice(0, MAX_EVENTS);
    return { ...result, data: { [name]: events } } as ExecutionResult;
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const { value, done } = await iterator.next();
      return done ? { value: undefined, done } : { value: listed(value), done: false };
    },
    async return() {
      await iterator.return?.();
      return { value: undefined, done: true };
    },
  };
}

/** Converts an answer for GraphiQL, and passes its ids to other tabs. */
function shown(answer: SyncFetcherResult): SyncFetcherResult {
  if (isAsyncIterable(answer)) return gathered(answer);
  if ("data" in answer) learn(answer.data);
  return answer;
}

export const fetcher: Fetcher = (asked, settings = {}) => {
  const [request, options] = ownOperation(asked, settings);
  // Introspection needs no credential, so the documentation works even with a mistyped key.
  if (request.operationName === "IntrospectionQuery") return send(request, options, {});
  const headers = headersOf(options.headers);
  const files = textFilesOf(request);
  const answer =
    files.length > 0 ? upload(endpoint, request, files, headers) : send(request, options, headers);
  return isPromise(answer) ? answer.then(shown) : answer;
};
