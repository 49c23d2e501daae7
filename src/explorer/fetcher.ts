import { createGraphiQLFetcher, type Fetcher, type FetcherOpts } from "@graphiql/toolkit";

const endpoint = new URL("/graphql", location.href);
const socket = new URL(endpoint);
socket.protocol = location.protocol === "https:" ? "wss:" : "ws:";

/** A header left empty in the editor is no header: a server may refuse an empty key where it lets pass a missing one. */
function filledIn(headers: FetcherOpts["headers"]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers ?? {}).filter(([, value]) => value !== ""));
}

const send = createGraphiQLFetcher({ url: endpoint.href, subscriptionUrl: socket.href });

/** Requests go by POST; a subscription opens a socket, which has the same headers as its connection_init payload. */
export const fetcher: Fetcher = (request, options) => {
  // Introspection needs no credential, so a mistyped key doesn't take the documentation away.
  const headers = request.operationName === "IntrospectionQuery" ? {} : filledIn(options?.headers);
  return send(request, { ...options, headers });
};
