import { createGraphiQLFetcher, type Fetcher, type FetcherOpts, type FetcherParams } from "@graphiql/toolkit";
import { GraphQLError, Kind, parse, print, separateOperations } from "graphql";
import { CloseCode, createClient, type Client } from "graphql-ws";

const endpoint = new URL("/graphql", location.href);
const socket = new URL(endpoint);
socket.protocol = location.protocol === "https:" ? "wss:" : "ws:";

/** A header left empty in the editor is no header: a server may refuse an empty key where it lets pass a missing one. */
function filledIn(headers: FetcherOpts["headers"]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers ?? {}).filter(([, value]) => value !== ""));
}

/** The service takes one operation a request, where a tab may hold several: the one to run, with its fragments. */
function alone(request: FetcherParams): FetcherParams {
  try {
    const document = parse(request.query);
    const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
    const wanted = operations.length > 1 && separateOperations(document)[request.operationName ?? ""];
    return wanted ? { ...request, query: print(wanted) } : request;
  } catch {
    return request; // the service says what is wrong with it
  }
}

const REFUSED: number = CloseCode.Forbidden;

/** A socket that breaks is opened again; of one that is refused the reason is shown. */
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

/** Requests go by POST; a subscription opens a socket, which has the same headers as its connection_init payload. */
export const fetcher: Fetcher = (request, options) => {
  // Introspection needs no credential, so a mistyped key doesn't take the documentation away.
  const headers = request.operationName === "IntrospectionQuery" ? {} : filledIn(options?.headers);
  const send = createGraphiQLFetcher({ url: endpoint.href, wsClient: clientWith(headers) });
  return send(alone(request), { ...options, headers });
};
