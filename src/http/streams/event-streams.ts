import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { GraphQLError, subscribe, type ExecutionResult, type SubscriptionArgs } from "graphql";
import type { Caller } from "../../account/auth/caller";
import { DomainError, invalid } from "../../platform/errors";
import { revealed } from "../../platform/json/json-source";
import { tracing } from "../../platform/tracing/tracing";
import { requestId } from "../answers/answer-headers";
import { askToRetry } from "../errors/reported-errors";
import { TOO_MANY } from "./bounded-socket";
import { codeOf, operationSpan } from "../graphql/operation-span";
import { countStream } from "./open-sockets";
import { subscriptionOf, subscriptionRules, type SubscribePayload } from "../graphql/subscription-document";
import { openedIn } from "./trace-subscriptions";
import { watchCredential } from "./watch-credential";
import type { SocketOptions } from "./websocket";

type StreamOptions = Omit<SocketOptions, "makeContext">;
type NewContext = (more: { readonly tooSlow: () => void }) => { readonly caller: Caller | undefined };

/** Pause between comments that keep proxies from closing an idle stream, in ms. */
const PING_INTERVAL_MS = 12_000;
const PING = ":\n\n";
const COMPLETE = "event: complete\ndata:\n\n";

/**
 * Serves subscriptions as Server-Sent Events, by the distinct connections mode of the protocol of graphql-sse: one
 * request for each subscription, and its results as events `next`, then `complete`. For networks without WebSockets.
 */
export class EventStreams {
  private readonly rules = subscriptionRules();
  private readonly responses = new Set<ServerResponse>();

  constructor(private readonly options: StreamOptions) {}

  /**
   * Answers a request with a stream, until the client disconnects, the subscription ends or the credential expires.
   * Errors of the document are in the stream, where clients of the protocol look for them.
   * @throws RATE_LIMITED, BAD_USER_INPUT, PERSISTED_QUERY_NOT_IN_LIST before the stream begins
   */
  async answer(
    req: IncomingMessage,
    res: ServerResponse,
    newContext: NewContext,
    payload: Partial<SubscribePayload>,
  ): Promise<void> {
    if (res.closed) return; // the client has disconnected, so that nothing would end what begins here
    // A client that reads too slowly connects again, and continues after the last event that it has read.
    const contextValue = newContext({ tooSlow: () => this.cutOff(res) });
    const { caller } = contextValue;
    this.count(req, res, caller);
    const prepared = subscriptionOf(this.options, this.rules, checked(payload));
    const result = Array.isArray(prepared)
      ? { errors: prepared }
      : await opened({ ...prepared, contextValue });
    await this.send(res, caller, result);
  }

  /** Ends all streams; their clients connect to another server. */
  close(): void {
    for (const response of this.responses) response.destroy();
  }

  private cutOff(res: ServerResponse): void {
    this.options.metrics.countSocket("slow");
    res.destroy();
  }

  /** @throws RATE_LIMITED */
  private count(req: IncomingMessage, res: ServerResponse, caller: Caller | undefined): void {
    const { limits, open, maxSockets, metrics } = this.options;
    const source = limits.sourceOf(req);
    const release = source === undefined || open.open(`address ${source}`, maxSockets.address);
    if (typeof release === "function") res.once("close", release);
    if (release && (!caller || countStream(this.options, open, req, res, caller))) return;
    metrics.countSocket("limited");
    throw new DomainError("RATE_LIMITED", TOO_MANY);
  }

  private async send(
    res: ServerResponse,
    caller: Caller | undefined,
    results: ExecutionResult | AsyncIterable<ExecutionResult>,
  ): Promise<void> {
    // Later errors come in events, without headers.
    if ("errors" in results)
      askToRetry(
        res,
        results.errors!.map((error) => codeOf(error)),
      );
    res.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store, no-transform",
      "X-Accel-Buffering": "no", // nginx would collect events
    });
    const source = Symbol.asyncIterator in results ? results[Symbol.asyncIterator]() : undefined;
    const end = () => void source?.return?.();
    const expired = this.expiry(caller, end);
    const next = (result: ExecutionResult) => this.next(res, result);
    const frames = async function* () {
      yield PING; // so that the client knows at once that the stream is open
      if (source) for await (const result of { [Symbol.asyncIterator]: () => source }) yield next(result);
      else yield next(results as ExecutionResult);
      if (expired.error) yield next({ errors: [expired.error] });
      yield COMPLETE;
    };
    this.responses.add(res);
    const pings = setInterval(() => res.writableNeedDrain || res.write(PING), PING_INTERVAL_MS);
    res.once("close", end);
    await pipeline(Readable.from(frames()), res).catch(() => undefined); // the client has disconnected
    clearInterval(pings);
    expired.unwatch();
    this.responses.delete(res);
  }

  /** Ends a stream when its credential expires or is revoked. */
  private expiry(caller: Caller | undefined, end: () => void): { error?: GraphQLError; unwatch(): void } {
    const state: { error?: GraphQLError; unwatch(): void } = { unwatch: () => undefined };
    if (!caller) return state;
    state.unwatch = watchCredential(this.options, caller, () => {
      const originalError = new DomainError("UNAUTHENTICATED", NO_LONGER_VALID);
      state.error = new GraphQLError(NO_LONGER_VALID, { originalError });
      end();
    });
    return state;
  }

  private next(res: ServerResponse, { data, errors }: ExecutionResult): string {
    const context = { requestId: requestId(res) };
    const formatted = errors?.map((error) => this.options.format(error, context));
    const result = { ...(formatted && { errors: formatted }), ...(data !== undefined && { data }) };
    return `event: next\ndata: ${revealed(JSON.stringify(result))}\n\n`;
  }
}

/** Opens a subscription in a span of its own: that of the request ends only with the stream. */
async function opened(args: SubscriptionArgs): ReturnType<typeof subscribe> {
  if (!tracing.tracer) return subscribe(args);
  const { name, attributes } = operationSpan(args.document);
  return tracing.tracer.run(name, { attributes }, (span) => openedIn(span, args));
}

const NO_LONGER_VALID = "The credential is no longer valid. Connect again with another one.";

/** A payload with values of the types that the protocol names. @throws BAD_USER_INPUT */
function checked({
  query,
  variables,
  operationName,
  extensions,
}: Partial<SubscribePayload>): SubscribePayload {
  const isObject = (value: unknown) => value == null || (typeof value === "object" && !Array.isArray(value));
  if (query === undefined && !extensions) throw invalid([{ path: "query", message: "is required" }]);
  if (query != null && typeof query !== "string")
    throw invalid([{ path: "query", message: "must be a string" }]);
  if (!isObject(variables)) throw invalid([{ path: "variables", message: "must be an object" }]);
  if (!isObject(extensions)) throw invalid([{ path: "extensions", message: "must be an object" }]);
  return { query: query ?? "", variables, operationName, extensions };
}
