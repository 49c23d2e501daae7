import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { GraphQLError, type GraphQLFormattedError, type GraphQLSchema } from "graphql";
import { CloseCode, type ServerOptions } from "graphql-ws";
import { useServer } from "graphql-ws/use/ws";
import { WebSocketServer } from "ws";
import type { Caller } from "../../account/auth/caller";
import type { Credentials } from "../../account/auth/credentials";
import type { Listener } from "../../platform/database/notifications/listener";
import { newId } from "../../platform/database/values/ids";
import { DomainError, publicError, type PublicError } from "../../platform/errors";
import { BoundedSocket, CLOSE_TIMEOUT_MS, TOO_MANY, TOO_SLOW, TRY_AGAIN_LATER } from "./bounded-socket";
import { errorBody } from "../errors/error-body";
import { answerSocket } from "../errors/malformed-request";
import { bodyAt } from "../graphql/graphql-errors";
import { subscriptionOf, subscriptionRules } from "../graphql/subscription-document";
import type { RateLimits } from "../limits/limits";
import type { Metrics } from "../metrics/metrics";
import { countStream, type MaxSockets, type OpenSockets } from "./open-sockets";
import type { PersistedOperations } from "../graphql/persisted-operations";
import { problemOfHost } from "../request-target";
import { traceSubscriptions } from "./trace-subscriptions";
import { watchCredential } from "./watch-credential";

export interface SocketOptions {
  readonly schema: GraphQLSchema;
  readonly introspection: boolean;
  readonly persisted: PersistedOperations | undefined;
  readonly credentials: Credentials;
  readonly listener: Pick<Listener, "on" | "onRenewed">;
  /** @param tooSlow closes the socket of a subscriber that reads too slowly */
  readonly makeContext: (
    caller: Caller,
    options: { readonly requestId: string; readonly tooSlow: () => void },
  ) => unknown;
  readonly limits: RateLimits;
  /** Counts sockets, and streams over HTTP with them. */
  readonly open: OpenSockets;
  readonly maxSockets: MaxSockets;
  readonly metrics: Pick<Metrics, "countSocket">;
  /** Formats an error for the client. */
  readonly format: (error: GraphQLError, context: { readonly requestId: string }) => GraphQLFormattedError;
}

interface SocketState extends Record<PropertyKey, unknown> {
  readonly request: IncomingMessage;
  readonly socket: BoundedSocket;
  caller?: Caller;
}
type Payload = Record<string, unknown>;

/** Interval between pings, in ms; a socket that does not answer is closed. */
const PING_INTERVAL_MS = 12_000;
/** Maximum number of simultaneous subscriptions per socket: of visitors, whose page follows one chat, and of others. */
const MAX_SUBSCRIPTIONS = { visitor: 10, others: 100 } as const;
const tooMany = (limit: number) =>
  new GraphQLError(
    `A connection may have at most ${limit} simultaneous subscriptions. Complete some first.`,
    {
      extensions: { code: "RATE_LIMITED" },
    },
  );
const lowerCase = (payload: Payload) =>
  Object.fromEntries(Object.entries(payload).map(([name, value]) => [name.toLowerCase(), value]));

/** Serves subscriptions at /graphql over graphql-ws. The credential is in the payload of `connection_init`. */
export function subscriptions(server: Server, options: SocketOptions): { close(): Promise<void> } {
  const { open } = options;
  // Not `{ server }`: the WebSocket library would then report the server's own errors, such as a port in use.
  const sockets = new WebSocketServer<typeof BoundedSocket>({
    noServer: true,
    path: "/graphql",
    maxPayload: 1_048_576,
    WebSocket: BoundedSocket,
  });
  server.on("upgrade", (request, socket, head) => {
    const accept = () =>
      sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit("connection", opened, request));
    if (admit(options, open, request, socket)) accept();
  });
  sockets.on("connection", (socket, request) => {
    if (options.limits.sourceOf(request) !== undefined) socket.limitFrames();
    socket.onGivenUp = (reason) => options.metrics.countSocket(reason === TOO_SLOW ? "slow" : "limited");
  });
  const closing = useServer<Payload, SocketState>(protocol(options, open), sockets, PING_INTERVAL_MS);
  return {
    close: async () => {
      const late = setTimeout(
        () => sockets.clients.forEach((socket) => socket.terminate()),
        CLOSE_TIMEOUT_MS,
      );
      await closing.dispose();
      clearTimeout(late);
    },
  };
}

/** Counts a new connection for its address. Answers 400 for an invalid header Host, 429 if the limit is reached. */
function admit(
  { limits, maxSockets, metrics }: SocketOptions,
  open: OpenSockets,
  request: IncomingMessage,
  socket: Duplex,
): boolean {
  socket.on("error", () => socket.destroy()); // the client may disconnect
  const problem = problemOfHost(request);
  if (problem) {
    answerSocket(socket, bodyAt(request.url!, errorBody(publicError(problem), 400, newId())));
    return false;
  }
  const source = limits.sourceOf(request);
  if (source === undefined) return true;
  const release = limits.admits("connection", request) && open.open(`address ${source}`, maxSockets.address);
  if (release) socket.once("close", release);
  else {
    metrics.countSocket("limited");
    socket.end(
      "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    );
  }
  return release !== false && release !== undefined;
}

function protocol(options: SocketOptions, open: OpenSockets): ServerOptions<Payload, SocketState> {
  const rules = subscriptionRules();
  const { limits } = options;
  // Every operation counts as a request and has its own id, as over HTTP.
  const ids = new WeakMap<object, string>();
  const formatted = (payload: object, errors: readonly GraphQLError[]) =>
    errors.map((error) => options.format(error, { requestId: ids.get(payload)! })); // set in onSubscribe
  const untraced: ServerOptions<Payload, SocketState> = {
    schema: options.schema,
    connectionInitWaitTimeout: 10_000,
    onConnect: ({ connectionParams, extra }) => connect(options, open, extra, connectionParams ?? {}),
    onSubscribe: ({ extra, subscriptions }, _id, payload) => {
      const { request, caller, socket } = extra;
      const requestId = newId();
      ids.set(payload, requestId);
      const limit = caller!.kind === "VISITOR" ? MAX_SUBSCRIPTIONS.visitor : MAX_SUBSCRIPTIONS.others;
      if (Object.keys(subscriptions).length > limit) return [tooMany(limit)];
      try {
        limits.take(request, undefined, caller);
        const tooSlow = () => socket.giveUp(TOO_SLOW);
        const prepared = subscriptionOf(options, rules, payload);
        if (Array.isArray(prepared)) return prepared;
        return { ...prepared, contextValue: options.makeContext(caller!, { requestId, tooSlow }) };
      } catch (error) {
        const originalError = error as Error;
        return [new GraphQLError(originalError.message, { originalError })];
      }
    },
    onError: (_context, _id, payload, errors) => formatted(payload, errors),
    onNext: (_context, _id, payload, _args, result) => ({
      ...result,
      ...(result.errors && { errors: formatted(payload, result.errors) }),
    }),
  };
  return traceSubscriptions(untraced, (payload) => ids.get(payload));
}

/** Authenticates a connection and counts it until it closes. @returns false without a valid credential */
async function connect(
  options: SocketOptions,
  open: OpenSockets,
  extra: SocketState,
  headers: Payload,
): Promise<boolean> {
  const { request, socket } = extra;
  const { caller, refusal } = await callerOf(options.credentials, headers);
  if (socket.readyState === socket.CLOSED) return false; // meanwhile, so that nothing would end what begins here
  const within = isWithin(options.limits, request, caller);
  if (!within || (caller && !countStream(options, open, request, socket, caller))) socket.giveUp(TOO_MANY);
  if (refusal)
    socket.close(refusal.code === "UNAUTHENTICATED" ? CloseCode.Forbidden : TRY_AGAIN_LATER, refusal.message);
  if (!caller) return false;
  extra.caller = caller;
  const unwatch = watchCredential(options, caller, () =>
    socket.close(CloseCode.Forbidden, "The credential is no longer valid. Connect again with another one."),
  );
  socket.once("close", unwatch);
  return true;
}

/** The caller, or why the credential was not accepted; neither without a credential. */
const callerOf = (
  credentials: Credentials,
  headers: Payload,
): Promise<{ readonly caller?: Caller | undefined; readonly refusal?: PublicError }> =>
  credentials.caller(lowerCase(headers)).then(
    (caller) => ({ caller }),
    (error: unknown) => ({ refusal: publicError(error) }),
  );

/** Counts a connection as a request of its caller. @returns false beyond the rate limit */
function isWithin(limits: RateLimits, request: IncomingMessage, caller: Caller | undefined): boolean {
  try {
    limits.take(request, undefined, caller);
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.code === "RATE_LIMITED") return false;
    throw error;
  }
}
