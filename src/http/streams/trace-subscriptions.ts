import type { IncomingMessage } from "node:http";
import { subscribe, type GraphQLError, type SubscriptionArgs } from "graphql";
import type { ServerOptions } from "graphql-ws";
import { tracing, type RequestSpan } from "../../platform/tracing/tracing";
import { codeOf, operationSpan } from "../graphql/operation-span";

type Payload = Record<string, unknown>;
type Protocol<State> = ServerOptions<Payload, State & Record<PropertyKey, unknown>>;

/**
 * Runs the start of each subscription in a span, which ends when the subscription is open or refused: a span is sent only
 * when it ends, and a subscription may last for days. It continues the trace that `traceparent` names in the extensions
 * of the operation, in the payload of `connection_init` or in the headers of the connection.
 * @param requestIdOf the id of an operation that `onSubscribe` has seen
 */
export function traceSubscriptions<State extends { readonly request: IncomingMessage }>(
  protocol: Protocol<State>,
  requestIdOf: (payload: object) => string | undefined,
): Protocol<State> {
  const { tracer } = tracing;
  if (!tracer) return protocol;
  const spans = new WeakMap<object, RequestSpan>();
  return {
    ...protocol,
    onSubscribe: async (context, id, payload) => {
      const { connectionParams, extra } = context;
      const sent = { ...extra.request.headers, ...connectionParams, ...payload.extensions };
      const span = tracer.request(sent as Record<string, string>); // other values are ignored
      const prepared = await protocol.onSubscribe!(context, id, payload);
      span.set({ "parley.request.id": requestIdOf(payload) });
      if (prepared && !Array.isArray(prepared)) spans.set(prepared, span);
      else refuse(span, prepared);
      return prepared;
    },
    subscribe: async (args) => {
      const span = spans.get(args)!; // set in onSubscribe
      const { name, attributes } = operationSpan(args.document);
      span.set(attributes);
      const result = await span.run(() => openedIn(span, args));
      span.end(name);
      return result;
    },
  };
}

/** Opens a subscription. If it is refused, the span has failed. */
export async function openedIn(
  span: Pick<RequestSpan, "fail">,
  args: SubscriptionArgs,
): ReturnType<typeof subscribe> {
  const result = await subscribe(args);
  if ("errors" in result && result.errors) span.fail(codeOf(result.errors[0]!));
  return result;
}

function refuse(span: RequestSpan, errors: readonly GraphQLError[] | void): void {
  if (errors?.[0]) span.fail(codeOf(errors[0]));
  span.end("subscription");
}
