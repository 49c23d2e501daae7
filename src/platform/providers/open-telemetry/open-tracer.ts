import { setTimeout as sleep } from "node:timers/promises";
import type * as Api from "@opentelemetry/api";
import type * as Core from "@opentelemetry/core";
import type * as Otlp from "@opentelemetry/exporter-trace-otlp-http";
import type * as Resources from "@opentelemetry/resources";
import type * as Sdk from "@opentelemetry/sdk-trace-base";
import type { Logger } from "pino";
import { FailureCount } from "../../failure-count";
import type { Config } from "../../settings/config";
import type { Tracer } from "../../tracing/tracing";
import { load } from "../load";
import { EventIds } from "./event-ids";
import { OtelTracer } from "./otel-tracer";

/** Longest time for sending spans when the server stops, and for each request to the collector, in ms. */
const CLOSE_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 5_000;
/** Spans that wait to be sent. Further ones are dropped, so that an unreachable collector costs no more memory. */
const MAX_WAITING = 4_096;

export type TracingSettings = Pick<
  Config,
  | "OTEL_EXPORTER_OTLP_ENDPOINT"
  | "OTEL_EXPORTER_OTLP_HEADERS"
  | "OTEL_SERVICE_NAME"
  | "OTEL_TRACES_SAMPLER"
  | "OTEL_TRACES_SAMPLER_ARG"
>;

/** The tracer that sends spans to the collector of the settings; undefined if they name none. Loads OpenTelemetry only then. */
export function openTracer(settings: TracingSettings, logger: Pick<Logger, "warn">): Tracer | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = settings;
  if (endpoint === undefined) return undefined;
  const api = load<typeof Api>("@opentelemetry/api");
  const sdk = load<typeof Sdk>("@opentelemetry/sdk-trace-base");
  const { W3CTraceContextPropagator } = load<typeof Core>("@opentelemetry/core");
  const { OTLPTraceExporter } = load<typeof Otlp>("@opentelemetry/exporter-trace-otlp-http");
  const { resourceFromAttributes } = load<typeof Resources>("@opentelemetry/resources");
  const url = `${endpoint}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis: REQUEST_TIMEOUT_MS });
  const ids = new EventIds();
  const sampler = samplerOf(sdk, settings);
  const provider = new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({ "service.name": settings.OTEL_SERVICE_NAME }),
    sampler,
    idGenerator: ids,
    spanProcessors: [new sdk.BatchSpanProcessor(reporting(exporter, logger), { maxQueueSize: MAX_WAITING })],
  });
  return new OtelTracer({
    ...{ api, ids },
    isSampled: (traceId) => {
      const { decision } = sampler.shouldSample(api.ROOT_CONTEXT, traceId, "", api.SpanKind.PRODUCER, {}, []);
      return decision === sdk.SamplingDecision.RECORD_AND_SAMPLED;
    },
    tracer: provider.getTracer("parley"),
    propagator: new W3CTraceContextPropagator(),
    close: async () => {
      const late = sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false });
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
    },
  });
}

/** Logs failures once a minute. OpenTelemetry itself reports them nowhere, or each. */
function reporting(exporter: Sdk.SpanExporter, logger: Pick<Logger, "warn">): Sdk.SpanExporter {
  const count = new FailureCount();
  return {
    export: (spans, done) =>
      exporter.export(spans, ({ error }) => {
        const failures = error === undefined ? undefined : count.toLog("");
        if (failures !== undefined)
          logger.warn({ err: error, failures }, "traces were not sent to the collector");
        done({ code: 0 });
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

function samplerOf(
  { AlwaysOffSampler, AlwaysOnSampler, ParentBasedSampler, TraceIdRatioBasedSampler }: typeof Sdk,
  { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share }: TracingSettings,
): Sdk.Sampler {
  const root = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(share),
  }[name.replace("parentbased_", "") as "always_on" | "always_off" | "traceidratio"](); // the setting accepts no others
  return name.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}
