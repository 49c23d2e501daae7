import { AsyncLocalStorage } from "node:async_hooks";
import type * as Api from "@opentelemetry/api";
import { summaryOf } from "../../tracing/statement-summary";
import type {
  Attributes,
  OpenSpan,
  RecordedEvent,
  RequestSpan,
  SpanOptions,
  Tracer,
} from "../../tracing/tracing";
import { traceOf, type EventIds } from "./event-ids";

/** The parts of OpenTelemetry that make spans. */
export interface Parts {
  readonly api: typeof Api;
  readonly tracer: Api.Tracer;
  readonly propagator: Api.TextMapPropagator;
  readonly ids: EventIds;
  /** Whether the sampler records a trace that begins here. */
  readonly isSampled: (traceId: string) => boolean;
  readonly close: () => Promise<void>;
}

/** Longest `error.type`, in characters. */
const MAX_TYPE_LENGTH = 100;

/** Records spans with OpenTelemetry. */
export class OtelTracer implements Tracer {
  /** The current span of each chain of asynchronous calls. */
  private readonly contexts = new AsyncLocalStorage<Api.Context>();

  constructor(private readonly parts: Parts) {}

  async run<R>(name: string, options: SpanOptions, work: (span: OpenSpan) => Promise<R>): Promise<R> {
    const { span, context, open } = this.start(name, options);
    try {
      return await this.contexts.run(context, () => work(open));
    } catch (error) {
      open.fail(typeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  async *stream<T>(name: string, options: SpanOptions, parts: AsyncIterable<T>): AsyncGenerator<T, void> {
    const { span, context, open } = this.start(name, options);
    const iterator = parts[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.contexts.run(context, () => iterator.next());
        if (next.done) return;
        yield next.value;
      }
    } catch (error) {
      open.fail(typeOf(error));
      throw error;
    } finally {
      await iterator.return?.(); // the reader may want no more
      span.end();
    }
  }

  statement<R>(sql: string, run: () => Promise<R>): Promise<R> {
    if (!this.contexts.getStore()) return run();
    const summary = summaryOf(sql);
    const attributes = { "db.system.name": "postgresql", "db.query.summary": summary };
    return this.run(summary, { kind: "client", attributes }, run);
  }

  request(headers: Readonly<Record<string, string | string[] | undefined>>): RequestSpan {
    const { api, propagator } = this.parts;
    const sent = propagator.extract(api.ROOT_CONTEXT, headers, api.defaultTextMapGetter);
    const { span, context, open } = this.start("HTTP", { kind: "server" }, sent);
    return {
      ...open,
      run: (work) => this.contexts.run(context, work),
      end: (name) => void span.updateName(name).end(),
    };
  }

  /** The current span gets a link too, so that a reader of either trace finds the other. */
  recorded({ id, name, chatId }: RecordedEvent): void {
    const { api, ids, tracer } = this.parts;
    const trace = traceOf(id);
    if (!trace) return;
    const current = api.trace.getSpan(this.contexts.getStore() ?? api.ROOT_CONTEXT);
    const attributes = { "parley.event.id": id, "parley.event.name": name, "parley.chat.id": chatId };
    const links = current ? [{ context: current.spanContext() }] : [];
    const options = { kind: api.SpanKind.PRODUCER, attributes, links };
    const span = ids.start(trace, () => tracer.startSpan(`event ${name}`, options, api.ROOT_CONTEXT));
    current?.addLink({ context: span.spanContext(), attributes });
    span.end();
  }

  headers(): Record<string, string> {
    const headers: Record<string, string> = {};
    const context = this.contexts.getStore();
    if (context) this.parts.propagator.inject(context, headers, this.parts.api.defaultTextMapSetter);
    return headers;
  }

  bind<F extends (...values: never[]) => unknown>(work: F): F {
    const context = this.contexts.getStore();
    if (!context) return work;
    return ((...values) => this.contexts.run(context, () => work(...values))) as F; // the same parameters and result
  }

  close(): Promise<void> {
    return this.parts.close();
  }

  private start(name: string, { kind = "internal", attributes, eventId }: SpanOptions, parent?: Api.Context) {
    const { api, tracer } = this.parts;
    const within = parent ?? (eventId === undefined ? this.contexts.getStore() : this.eventContext(eventId));
    const kinds = {
      internal: api.SpanKind.INTERNAL,
      server: api.SpanKind.SERVER,
      client: api.SpanKind.CLIENT,
      consumer: api.SpanKind.CONSUMER,
    };
    const context = within ?? api.ROOT_CONTEXT;
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes: known(attributes) }, context);
    const open: OpenSpan = {
      set: (more) => void span.setAttributes(known(more)),
      fail: (type) => {
        span.setStatus({ code: api.SpanStatusCode.ERROR });
        span.setAttribute("error.type", type.slice(0, MAX_TYPE_LENGTH));
      },
    };
    return { span, open, context: api.trace.setSpan(context, span) };
  }

  /** The context of an event's first span, which another server may have made. Samplers decide by the trace. */
  private eventContext(eventId: string): Api.Context {
    const { api, isSampled } = this.parts;
    const trace = traceOf(eventId);
    if (!trace) return api.ROOT_CONTEXT;
    const traceFlags = isSampled(trace.traceId) ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE;
    return api.trace.setSpanContext(api.ROOT_CONTEXT, { ...trace, traceFlags, isRemote: true });
  }
}

/** Attributes that have a value. */
const known = (attributes: Attributes = {}): Api.Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));

/** The code or class of an error. Its message may contain values. */
function typeOf(error: unknown): string {
  const { code, kind, name } = Object(error) as Record<"code" | "kind" | "name", unknown>;
  return String([code, kind, name].find((one) => typeof one === "string") ?? "Error");
}
