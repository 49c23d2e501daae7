import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A span, as a collector received it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly failed: boolean;
}

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number;
}
interface OtlpSpan extends Omit<ReceivedSpan, "attributes" | "failed"> {
  readonly attributes?: readonly { readonly key: string; readonly value: OtlpValue }[];
  readonly status?: { readonly code?: number };
}
interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** An HTTP server that receives traces as an OpenTelemetry collector does. */
export async function collector() {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  const headers: (string | undefined)[] = [];
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      texts.push(text);
      headers.push(req.headers.authorization);
      if (req.url === "/v1/traces") spans.push(...spansOf(JSON.parse(text) as OtlpBody));
      res.writeHead(req.url === "/v1/traces" ? 200 : 404, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    spans,
    /** The bodies of all requests. */
    texts,
    /** Authorization header of each request. */
    headers,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const spansOf = ({ resourceSpans }: OtlpBody): ReceivedSpan[] =>
  resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)
    .map(({ attributes = [], status, ...span }) => ({
      ...{ ...span, parentSpanId: span.parentSpanId ?? "", links: span.links ?? [] },
      failed: status?.code === 2,
      attributes: Object.fromEntries(
        attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
      ),
    }));
