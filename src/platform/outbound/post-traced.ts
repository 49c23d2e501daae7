import { tracing, type SpanOptions } from "../tracing/tracing";
import type { Outbound, OutboundRequest, Outcome } from "./http";

type Span = Omit<SpanOptions, "kind"> & { readonly name: string };

/** Sends a request in a span of its own. The receiver can continue its trace. */
export function postTraced(
  outbound: Pick<Outbound, "post">,
  { name, attributes, eventId }: Span,
  request: OutboundRequest,
): Promise<Outcome> {
  const { tracer } = tracing;
  if (!tracer) return outbound.post(request);
  const host = URL.canParse(request.url) ? new URL(request.url).hostname : undefined;
  const about = { ...attributes, "http.request.method": "POST", "server.address": host };
  return tracer.run(name, { kind: "client", eventId, attributes: about }, async (span) => {
    const outcome = await outbound.post(request);
    if (outcome.kind === "failed") span.fail(outcome.timedOut ? "timeout" : "unreachable");
    else {
      span.set({ "http.response.status_code": outcome.status });
      if (outcome.status >= 400) span.fail(String(outcome.status));
    }
    return outcome;
  });
}
