import createRestClient, { type Client as RestClient } from "openapi-fetch";
import { Chat, type NewChat } from "./chat";
import type { paths } from "./generated/rest";
import { ParleyError } from "./parley-error";
import { START_CHAT } from "./operations.generated";
import { runOperation, type Document, type GraphQLOptions, type VariablesOf } from "./run-operation";
import { send, type SendOptions } from "./send";
import { subscribe, type SubscribeOptions, type Transport } from "./subscribe";
import { warningsIn } from "./warnings";
import type { SocketClass } from "./web-socket";

export interface ClientOptions extends SendOptions {
  /** Address of the service, such as `https://parley.example`. It may have a path. */
  readonly url: string | URL;
  /**
   * How subscriptions travel: `sse` (the default) makes one request for each, and `websocket` shares one connection,
   * which needs the package graphql-ws.
   */
  readonly subscriptions?: "sse" | "websocket" | undefined;
  /** The WebSocket class of a runtime that has none of its own: that of the package `ws`, in Node.js 20. */
  readonly webSocket?: SocketClass | undefined;
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
  /** The same for a plain text, whose result has the type that you name. */
  graphql<Result>(
    text: string,
    variables?: Record<string, unknown>,
    options?: GraphQLOptions,
  ): Promise<Result>;

  /**
   * Follows a subscription until the service completes it, and connects again when the connection breaks. A document
   * with the variable `$after` that selects `id` continues where it was.
   * @throws ParleyError, while it is read
   */
  subscribe<Result, Variables>(
    document: Document<Result, Variables>,
    variables?: Variables,
    options?: SubscribeOptions,
  ): AsyncGenerator<Result, void, void>;
  /** The same for a plain text, whose results have the type that you name. */
  subscribe<Result>(
    text: string,
    variables?: Record<string, unknown>,
    options?: SubscribeOptions,
  ): AsyncGenerator<Result, void, void>;

  /** Starts a chat. @throws ParleyError, ASSISTANT_NOT_FOUND for example */
  startChat(input: NewChat, options?: GraphQLOptions): Promise<Chat>;

  /** A chat that exists. No request is made. */
  chat(id: string): Chat;
}

/**
 * Creates a client. It opens no connection.
 * @throws TypeError if the options are wrong
 */
export function createClient(options: ClientOptions): Parley {
  const root = rootOf(options.url);
  if (options.key !== undefined && options.token !== undefined)
    throw new TypeError("Pass either key or token, not both.");
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
    rest: createRestClient<paths>({ baseUrl: root, fetch: (request) => sendRest(options, request) }),
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

/** The address of the service without a slash at its end. @throws TypeError */
function rootOf(url: string | URL): string {
  const base = /^https?:/.test(String(url)) && URL.canParse(String(url)) ? new URL(url) : undefined;
  const refuse = (problem: string) => {
    throw new TypeError(`The url ${JSON.stringify(String(url))} ${problem}.`);
  };
  if (!base) return refuse("is no address that begins with http:// or https://");
  if (base.search || base.hash) refuse("must not have a query or a fragment");
  if (/\/(graphql|rest)\b/.test(base.pathname))
    refuse("must be that of the service, without /graphql or /rest");
  return base.href.replace(/\/$/, "");
}

/**
 * A REST request: a POST with a key of its own, under which it can be repeated.
 * @throws ParleyError, also with INVALID_RESPONSE for a body that is not JSON
 */
async function sendRest(options: ClientOptions, request: Request): Promise<Response> {
  const { method, headers, url } = request;
  if (method === "POST" && !headers.has("Idempotency-Key"))
    headers.set("Idempotency-Key", crypto.randomUUID());
  const response = await send(options, request);
  for (const warning of warningsIn(response)) options.onWarning?.(warning);
  const { status, body } = response;
  if (!body || response.headers.get("Content-Type")?.includes("json")) return response;
  const message = `${url} answered with status ${status} and not with JSON.`;
  throw new ParleyError(message, { code: "INVALID_RESPONSE", status });
}
