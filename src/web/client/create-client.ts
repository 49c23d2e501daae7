import createRestClient, { type Client as RestClient } from "openapi-fetch";
import { Chat, type NewChat } from "./chat";
import type { paths } from "./generated/rest";
import { START_CHAT } from "./operations.generated";
import { runOperation, type Document, type GraphQLOptions, type VariablesOf } from "./run-operation";
import { send, type SendOptions } from "./send";
import { subscribe, type SubscribeOptions, type Transport } from "./subscribe";

export interface ClientOptions extends SendOptions {
  /** Address of the service, such as `https://parley.example`. It may have a path. */
  readonly url: string | URL;
  /**
   * How subscriptions travel: `sse` (the default) makes one request for each, and `websocket` shares one connection,
   * which needs the package graphql-ws.
   */
  readonly subscriptions?: "sse" | "websocket" | undefined;
  /** The WebSocket class of a runtime that has none of its own: that of the package `ws`, in Node.js 20. */
  readonly webSocket?: unknown;
}

/** A client of one service, with one credential. */
export interface Parley {
  /** The REST interface: `rest.GET(path, { params, body })` returns `{ data, error, response }`, typed by the path. */
  readonly rest: RestClient<paths>;

  /** Runs a query or mutation. @throws ParleyError */
  graphql<Result, Variables>(
    document: Document<Result, Variables>,
    ...rest: VariablesOf<Variables>
  ): Promise<Result>;

  /**
   * Follows a subscription until the service completes it, and connects again when the connection breaks. A document
   * with the variable `$after` that selects `id` continues where it was.
   * @throws ParleyError, while it is read
   */
  subscribe<Result, Variables>(
    document: Document<Result, Variables>,
    variables: Variables,
    options?: SubscribeOptions,
  ): AsyncGenerator<Result, void, void>;

  /** Starts a chat. @throws ParleyError, ASSISTANT_NOT_FOUND for example */
  startChat(input: NewChat, options?: GraphQLOptions): Promise<Chat>;

  /** A chat that exists. No request is made. */
  chat(id: string): Chat;
}

/**
 * Creates a client. It opens no connection.
 * @throws TypeError if the address is not one of HTTP, or if both a key and a token are given
 */
export function createClient(options: ClientOptions): Parley {
  const base = new URL(options.url);
  if (!/^https?:$/.test(base.protocol)) throw new TypeError("url must begin with http:// or https://.");
  if (options.key !== undefined && options.token !== undefined)
    throw new TypeError("Pass either key or token, not both.");
  const root = base.href.replace(/[?#].*|\/$/g, "");
  const endpoint = `${root}/graphql`;
  const transport = loaded(endpoint, options);
  const connection = {
    graphql: (document: string | object, variables?: unknown, more?: GraphQLOptions) =>
      runOperation(endpoint, options, document, variables, more),
    subscribe: (document: string | object, variables?: object, more?: SubscribeOptions) =>
      subscribe(transport, options, document, variables, more),
  } as Pick<Parley, "graphql" | "subscribe">;
  return {
    ...connection,
    rest: createRestClient<paths>({ baseUrl: root, fetch: (request) => send(options, withKey(request)) }),
    startChat: async (input, more) => {
      const { result } = await connection.graphql(START_CHAT, { input }, more);
      return new Chat(connection, result!.id, result!.greeting);
    },
    chat: (id) => new Chat(connection, id),
  };
}

/** Each transport loads with the first subscription, which many programs never start. */
function loaded(endpoint: string, options: ClientOptions): Transport {
  const load = async (): Promise<Transport> =>
    options.subscriptions === "websocket"
      ? (await import("./web-socket.js")).webSocket(endpoint, options, options.webSocket)
      : (await import("./event-stream.js")).eventStream(endpoint, options);
  let transport: Promise<Transport> | undefined;
  return async (payload, signal) => (await (transport ??= load()))(payload, signal);
}

/** A POST with a key of its own, under which it can be repeated. */
function withKey(request: Request): Request {
  const { method, headers } = request;
  if (method === "POST" && !headers.has("Idempotency-Key"))
    headers.set("Idempotency-Key", crypto.randomUUID());
  return request;
}
