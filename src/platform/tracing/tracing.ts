/** Values of a span. They contain ids and names, never texts of people, values of queries or secrets. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

export interface SpanOptions {
  /** Default `internal`. */
  readonly kind?: "internal" | "server" | "client" | "consumer";
  readonly attributes?: Attributes;
  /** Id of the event whose trace the span belongs to; else it is that of the current span. */
  readonly eventId?: string;
}

/** A span that has not ended. */
export interface OpenSpan {
  set(attributes: Attributes): void;
  /** Marks the span as failed. @param type a code or a class, never a message, which may contain values */
  fail(type: string): void;
}

/** The span of an HTTP request, or of an operation on a WebSocket. */
export interface RequestSpan extends OpenSpan {
  /** Runs the work of the request in its span. */
  run<R>(work: () => R): R;
  end(name: string): void;
}

/** An event that was recorded. */
export interface RecordedEvent {
  readonly id: string;
  readonly name: string;
  readonly chatId: string;
}

/** Records spans: what was done, when, and as a part of what. */
export interface Tracer {
  /** Runs work in a span, which ends with it. */
  run<R>(name: string, options: SpanOptions, work: (span: OpenSpan) => Promise<R>): Promise<R>;
  /** Yields the parts of a stream, each of which is made in the span, which ends with the last one. */
  stream<T>(name: string, options: SpanOptions, parts: AsyncIterable<T>): AsyncIterable<T>;
  /** Runs a statement of the database, in a span if it is part of another one. */
  statement<R>(sql: string, run: () => Promise<R>): Promise<R>;
  /** Begins the span of a request, which continues the trace that its headers name. */
  request(headers: Readonly<Record<string, string | string[] | undefined>>): RequestSpan;
  /** Begins the trace of an event, to which its deliveries belong; links it with the current span. */
  recorded(event: RecordedEvent): void;
  /** Headers with which a receiver continues the current trace. */
  headers(): Record<string, string>;
  /** The same function; runs in the current span whenever it is called. */
  bind<F extends (...values: never[]) => unknown>(work: F): F;
  /** Sends the remaining spans, within a few seconds. */
  close(): Promise<void>;
}

/**
 * The tracer of this process; undefined unless OTEL_EXPORTER_OTLP_ENDPOINT is set. It is no port, because statements and
 * requests to other servers know no scope. Each use asks for it, so that nothing is done for a span without one.
 */
export const tracing: { tracer: Tracer | undefined } = { tracer: undefined };
