import type { IncomingMessage, Server } from "node:http";
import {
  getOperationAST,
  GraphQLError,
  OperationTypeNode,
  parse,
  specifiedRules,
  validate,
  type ExecutionArgs,
  type GraphQLSchema,
} from "graphql";
import { CloseCode, type ServerOptions } from "graphql-ws";
import { useServer } from "graphql-ws/use/ws";
import { WebSocketServer } from "ws";
import { currentTime } from "../clock";
import type { Caller } from "../auth/caller";
import { KEYS_CHANNEL, type Credentials } from "../auth/credentials";
import type { Listener } from "../database/listener";
import { publicError } from "../errors";
import { aboutValue } from "./graphql-problems";
import { costOf, MOST_QUERY_BYTES, MOST_TOKENS, rulesOf } from "./graphql-limits";

export interface SocketOptions {
  readonly schema: GraphQLSchema;
  readonly introspection: boolean;
  readonly credentials: Credentials;
  readonly listener: Pick<Listener, "on">;
  readonly makeContext: (caller: Caller) => unknown;
  readonly format: (error: GraphQLError) => GraphQLError;
}

interface Extra extends Record<PropertyKey, unknown> {
  readonly request: IncomingMessage;
  readonly socket: { close(code: number, reason: string): void };
  caller?: Caller;
  unwatch?: () => void;
}
type Payload = Record<string, unknown>;

/** How often a socket is pinged, in milliseconds; one that does not answer is closed. */
const KEEP_ALIVE = 12_000;
/** How long a client may take to answer that its socket is closed, in milliseconds. */
const PARTING = 2_000;
/** What a visitor of a web page may follow at once on a socket; a page follows one chat. */
const MOST_FOLLOWED = 10;
const tooMany = new GraphQLError(`A visitor may follow ${MOST_FOLLOWED} chats at once.`, {
  extensions: { code: "RATE_LIMITED" },
});
const lowerCase = (payload: Payload) =>
  Object.fromEntries(Object.entries(payload).map(([name, value]) => [name.toLowerCase(), value]));

/** Subscriptions at /graphql over graphql-ws. The credential stands in the payload of `connection_init`. */
export function subscriptions(server: Server, options: SocketOptions): { close(): Promise<void> } {
  // Not `{ server }`: the server's own errors, such as a port in use, would be printed as the WebSocket's.
  const sockets = new WebSocketServer({ noServer: true, path: "/graphql", maxPayload: 1_048_576 });
  server.on("upgrade", (request, socket, head) =>
    sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit("connection", opened, request)),
  );
  const closing = useServer<Payload, Extra>(protocol(options), sockets, KEEP_ALIVE);
  return {
    close: async () => {
      const late = setTimeout(() => sockets.clients.forEach((socket) => socket.terminate()), PARTING);
      await closing.dispose();
      clearTimeout(late);
    },
  };
}

function protocol(options: SocketOptions): ServerOptions<Payload, Extra> {
  const rules = [...specifiedRules, ...rulesOf()];
  return {
    schema: options.schema,
    connectionInitWaitTimeout: 10_000,
    onConnect: async ({ connectionParams, extra }) => {
      const caller = await options.credentials
        .caller(lowerCase(connectionParams ?? {}))
        .catch(() => undefined);
      if (!caller) return false;
      extra.caller = caller;
      extra.unwatch = watch(options, caller, () =>
        extra.socket.close(CloseCode.Forbidden, "The credential has ended."),
      );
      return true;
    },
    onDisconnect: ({ extra }) => extra.unwatch?.(),
    onSubscribe: ({ extra, subscriptions }, _id, { query, variables, operationName }) => {
      const visits = extra.caller?.kind === "VISITOR";
      if (visits && Object.keys(subscriptions).length > MOST_FOLLOWED) return [tooMany];
      try {
        return prepared(options, rules, query, variables ?? {}, operationName ?? undefined, extra.caller!);
      } catch (error) {
        return [error instanceof GraphQLError ? error : new GraphQLError("The request is not valid.")];
      }
    },
    onError: (_context, _id, _payload, errors) => errors.map((error) => options.format(error).toJSON()),
    onNext: (_context, _id, _payload, _args, result) => ({
      ...result,
      ...(result.errors && { errors: result.errors.map((error) => options.format(error).toJSON()) }),
    }),
  };
}

function prepared(
  { schema, introspection, makeContext }: SocketOptions,
  rules: (typeof specifiedRules)[number][],
  query: string,
  variableValues: Record<string, unknown>,
  operationName: string | undefined,
  caller: Caller,
): ExecutionArgs | GraphQLError[] {
  if (Buffer.byteLength(query) > MOST_QUERY_BYTES)
    return [new GraphQLError("The query must be at most 64 KiB.")];
  const document = parse(query, { maxTokens: MOST_TOKENS });
  const problems = validate(schema, document, rules);
  if (problems.length > 0) return [...problems];
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.SUBSCRIPTION)
    return [
      new GraphQLError(
        `Over the WebSocket only subscriptions run${introspection ? "; send queries and mutations by POST." : "."}`,
      ),
    ];
  const counted = costOf(schema, document, operationName, variableValues);
  if (counted.refusal) return [aboutValue(counted.refusal, document)];
  if (counted.problem) return [counted.problem];
  return { schema, document, operationName, variableValues, contextValue: makeContext(caller) };
}

/** Most milliseconds between two looks at a credential that ends. */
const LOOK_AGAIN = 60_000;

/** Calls `over` when the caller's token or key ends, or the key behind it no longer stands. */
function watch({ credentials, listener }: SocketOptions, caller: Caller, over: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isWatched = true;
  const check = async () => {
    if (!(await credentials.stillValid(caller).catch(() => true))) over();
    else look();
  };
  const look = () => {
    clearTimeout(timer);
    if (!caller.expiresAt || !isWatched) return;
    const left = caller.expiresAt.getTime() - currentTime() + 50;
    timer = setTimeout(() => void check(), Math.min(Math.max(left, 1_000), LOOK_AGAIN));
  };
  look();
  const silence = listener.on(KEYS_CHANNEL, ({ keyId }) => void (keyId === caller.keyId && check()));
  return () => {
    isWatched = false;
    clearTimeout(timer);
    silence();
  };
}

/** An error as a subscriber may see it. */
export function shownError(error: GraphQLError): GraphQLError {
  if (!error.originalError) return error;
  const { message, code, details } = publicError(error.originalError);
  const { nodes, path } = error;
  return new GraphQLError(message, { nodes, path, extensions: { code, ...(details && { details }) } });
}
