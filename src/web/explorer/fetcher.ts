import { createGraphiQLFetcher, type Fetcher, type FetcherOpts, type FetcherParams } from "@graphiql/toolkit";
import { GraphQLError, Kind, parse, print, separateOperations } from "graphql";
import { CloseCode, createClient, type Client } from "graphql-ws";

const endpoint = new URL("/graphql", location.href);
const socket = new URL(endpoint);
socket.protocol = location.protocol === "https:" ? "wss:" : "ws:";

/** Removes empty headers: the server refuses an empty key, but allows some requests without a key. */
function filledIn(headers: FetcherOpts["headers"]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers ?? {}).filter(([, value]) => value !== ""));
}

/** Reduces a document to the operation to run and its fragments: the service accepts one operation per request. */
function alone(request: FetcherParams): FetcherParams {
  try {
    const document = parse(request.query);
    const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
    const wanted = operations.length > 1 && separateOperations(document)[request.operationName ?? ""];
    return wanted ? { ...request, query: print(wanted) } : request;
  } catch {
    return request; // the service reports the syntax error
  }
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

/** Sends requests by POST. Subscriptions open a socket with the same headers in the connection_init payload. */
export const fetcher: Fetcher = (request, options) => {
  // Introspection needs no credential, so the documentation works even with a mistyped key.
  const headers = request.operationName === "IntrospectionQuery" ? {} : filledIn(options?.headers);
  const send = createGraphiQLFetcher({ url: endpoint.href, wsClient: clientWith(headers) });
  return send(alone(request), { ...options, headers });
};
