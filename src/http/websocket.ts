import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { GraphQLError, type GraphQLFormattedError, type GraphQLSchema } from "graphql";
import { CloseCode, type ServerOptions } from "graphql-ws";
import { useServer } from "graphql-ws/use/ws";
import { WebSocketServer } from "ws";
import { currentTime } from "../platform/clock";
import type { Caller } from "../account/auth/caller";
import { KEYS_CHANNEL, type Credentials } from "../account/auth/credentials";
import type { Listener } from "../platform/database/listener";
import { newId } from "../platform/database/ids";
import { DomainError } from "../platform/errors";
import { BoundedSocket, PARTING, TOO_MANY, TOO_SLOW } from "./bounded-socket";
import { subscriptionOf, subscriptionRules } from "./subscription-document";
import { visitorOf, type RateLimits } from "./limits";
import type { Metrics } from "./metrics";
import { OpenSockets } from "./open-sockets";

export interface SocketOptions {
  readonly schema: GraphQLSchema;
  readonly introspection: boolean;
  readonly credentials: Credentials;
  readonly listener: Pick<Listener, "on">;
  /** @param tooSlow gives up on a subscriber for whom too much is waiting */
  readonly makeContext: (
    caller: Caller,
    options: { readonly requestId: string; readonly tooSlow: () => void },
  ) => unknown;
  readonly limits: RateLimits;
  /** Most open sockets of one address and of one organization. */
  readonly most: { readonly address: number; readonly organization: number };
  readonly metrics: Pick<Metrics, "countSocket">;
  /** An error as a client may see it. */
  readonly format: (error: GraphQLError, context: { readonly requestId: string }) => GraphQLFormattedError;
}

interface Extra extends Record<PropertyKey, unknown> {
  readonly request: IncomingMessage;
  readonly socket: BoundedSocket;
  caller?: Caller;
  unwatch?: () => void;
}
type Payload = Record<string, unknown>;

/** How often a socket is pinged, in milliseconds; one that does not answer is closed. */
const KEEP_ALIVE = 12_000;
/** Subscriptions at once on one socket: of a visitor, whose page follows one chat, and of others. */
const MOST_FOLLOWED = { visitor: 10, others: 100 } as const;
/** Open sockets of one visitor. */
const MOST_OF_VISITOR = 20;
const tooMany = (most: number) =>
  new GraphQLError(`At most ${most} subscriptions run at once on one connection.`, {
    extensions: { code: "RATE_LIMITED" },
  });
const lowerCase = (payload: Payload) =>
  Object.fromEntries(Object.entries(payload).map(([name, value]) => [name.toLowerCase(), value]));

/** Subscriptions at /graphql over graphql-ws. The credential stands in the payload of `connection_init`. */
export function subscriptions(server: Server, options: SocketOptions): { close(): Promise<void> } {
  const open = new OpenSockets();
  // Not `{ server }`: the server's own errors, such as a port in use, would be printed as the WebSocket's.
  const sockets = new WebSocketServer<typeof BoundedSocket>({
    noServer: true,
    path: "/graphql",
    maxPayload: 1_048_576,
    WebSocket: BoundedSocket,
  });
  server.on("upgrade", (request, socket, head) => {
    const accept = () =>
      sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit("connection", opened, request));
    void admit(options, open, request, socket).then((admitted) => admitted && accept());
  });
  sockets.on("connection", (socket, request) => {
    if (options.limits.sourceOf(request) !== undefined) socket.limitFrames();
    socket.onGivenUp = (reason) => options.metrics.countSocket(reason === TOO_SLOW ? "slow" : "limited");
  });
  const closing = useServer<Payload, Extra>(protocol(options, open), sockets, KEEP_ALIVE);
  return {
    close: async () => {
      const late = setTimeout(() => sockets.clients.forEach((socket) => socket.terminate()), PARTING);
      await closing.dispose();
      clearTimeout(late);
    },
  };
}

/** Counts a new connection for its address, and answers one too many with 429. */
async function admit(
  { limits, most, metrics }: SocketOptions,
  open: OpenSockets,
  request: IncomingMessage,
  socket: Duplex,
): Promise<boolean> {
  socket.on("error", () => socket.destroy()); // the client may go away meanwhile
  const source = limits.sourceOf(request);
  if (source === undefined) return true;
  const leave = (await limits.admits("connection", request)) && open.open(`address ${source}`, most.address);
  if (leave) socket.once("close", leave);
  else {
    metrics.countSocket("limited");
    socket.end(
      "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    );
  }
  return leave !== false && leave !== undefined;
}

function protocol(options: SocketOptions, open: OpenSockets): ServerOptions<Payload, Extra> {
  const rules = subscriptionRules();
  const { limits } = options;
  // Every operation is a request of its own, and has an id as those by HTTP have.
  const ids = new WeakMap<object, string>();
  const shown = (payload: object, errors: readonly GraphQLError[]) =>
    errors.map((error) => options.format(error, { requestId: ids.get(payload)! })); // set as it is subscribed
  return {
    schema: options.schema,
    connectionInitWaitTimeout: 10_000,
    onConnect: ({ connectionParams, extra }) => connect(options, open, extra, connectionParams ?? {}),
    onDisconnect: ({ extra }) => extra.unwatch?.(),
    onSubscribe: async ({ extra, subscriptions }, _id, payload) => {
      const { request, caller, socket } = extra;
      const requestId = newId();
      ids.set(payload, requestId);
      const most = caller!.kind === "VISITOR" ? MOST_FOLLOWED.visitor : MOST_FOLLOWED.others;
      if (Object.keys(subscriptions).length > most) return [tooMany(most)];
      try {
        await limits.take(request, undefined, caller);
        const tooSlow = () => socket.giveUp(TOO_SLOW);
        const prepared = subscriptionOf(options, rules, payload);
        if (Array.isArray(prepared)) return prepared;
        return { ...prepared, contextValue: options.makeContext(caller!, { requestId, tooSlow }) };
      } catch (error) {
        const originalError = error as Error;
        return [new GraphQLError(originalError.message, { originalError })];
      }
    },
    onError: (_context, _id, payload, errors) => shown(payload, errors),
    onNext: (_context, _id, payload, _args, result) => ({
      ...result,
      ...(result.errors && { errors: shown(payload, result.errors) }),
    }),
  };
}

/** Finds whose connection it is, and counts it. @returns false where it is nobody's */
async function connect(
  options: SocketOptions,
  open: OpenSockets,
  extra: Extra,
  headers: Payload,
): Promise<boolean> {
  const { request, socket } = extra;
  const caller = await options.credentials.caller(lowerCase(headers)).catch(() => undefined);
  const within = await isWithin(options.limits.take(request, undefined, caller));
  if (!within || (caller && !hold(options, open, extra, caller))) socket.giveUp(TOO_MANY);
  if (!caller) return false;
  extra.caller = caller;
  extra.unwatch = watch(options, caller, () =>
    socket.close(CloseCode.Forbidden, "The credential has ended."),
  );
  return true;
}

/** Counts a socket for its credential while it is open. @returns false when there are too many */
function hold({ limits, most }: SocketOptions, open: OpenSockets, extra: Extra, caller: Caller): boolean {
  if (limits.sourceOf(extra.request) === undefined) return true;
  const { organizationId, visitor } = caller;
  const places = [open.open(`organization ${organizationId}`, most.organization)];
  if (visitor) places.push(open.open(`visitor ${organizationId} ${visitorOf(visitor)}`, MOST_OF_VISITOR));
  for (const leave of places) if (leave) extra.socket.once("close", leave);
  return places.every((leave) => leave !== undefined);
}

/** @throws what is no refusal */
const isWithin = (counted: Promise<void>): Promise<boolean> =>
  counted.then(
    () => true,
    (error: unknown) => {
      if (error instanceof DomainError && error.code === "RATE_LIMITED") return false;
      throw error;
    },
  );

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
