import { z } from "zod";
import { oneOf, url, withoutTrailingSlashes } from "./setting-kinds";

const SAMPLERS = [
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
  "always_on",
  "always_off",
  "traceidratio",
] as const;

const share = z
  .string()
  .refine((text) => /^[01](?:\.\d+)?$/.test(text) && Number(text) <= 1, {
    error: "must be a number from 0 to 1, such as 0.25",
  })
  .transform(Number);

/** The headers of a text as OpenTelemetry writes them: `name=value,name=value`, with percent-encoded values. */
function headersOf(text: string): Record<string, string> | undefined {
  try {
    const pairs = text.split(",").map((pair) => /^([\w-]+)=(.*)$/.exec(pair.trim())!);
    return Object.fromEntries(pairs.map(([, name, value]) => [name!, decodeURIComponent(value!)]));
  } catch {
    return undefined;
  }
}

const headers = z
  .string()
  .refine((text) => headersOf(text) !== undefined, {
    error: "must be name=value, several separated by commas",
  })
  .transform((text) => headersOf(text)!);

/** Settings of traces, with the names of OpenTelemetry. */
export const TRACING_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    url("http:", "https:").transform(withoutTrailingSlashes).optional(),
    "unset: no traces",
    "URL of an OpenTelemetry collector that gets traces as OTLP over HTTP, without `/v1/traces`, such as `http://127.0.0.1:4318`.",
  ],
  OTEL_EXPORTER_OTLP_HEADERS: [
    headers.optional(),
    "none",
    "Headers of requests to the collector: `name=value`, separated by commas, with percent-encoded values.",
  ],
  OTEL_SERVICE_NAME: [
    z.string().min(1).max(200).default("parley"),
    "`parley`",
    "Name of the service in traces.",
  ],
  OTEL_TRACES_SAMPLER: [
    oneOf(...SAMPLERS).default("parentbased_always_on"),
    "`parentbased_always_on`",
    "Which traces are recorded, by OpenTelemetry's names; `parentbased_traceidratio` records a share.",
  ],
  OTEL_TRACES_SAMPLER_ARG: [
    share.default(1),
    "`1`",
    "Share of traces, from 0 to 1, that the samplers `traceidratio` and `parentbased_traceidratio` record.",
  ],
} as const;
