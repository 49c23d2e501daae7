import { randomBytes } from "node:crypto";
import type { IdGenerator } from "@opentelemetry/sdk-trace-base";

/** Length of the id of a span, in hexadecimal digits. */
const SPAN_DIGITS = 16;

/** The trace of an event and its first span. */
export interface EventTrace {
  readonly traceId: string;
  readonly spanId: string;
}

/**
 * The trace of an event has the event's id, which is a UUID, so a server that delivers the event knows its trace without
 * storing anything: for a retry hours later too, and for events of servers without traces. Undefined for another id.
 */
export function traceOf(eventId: string): EventTrace | undefined {
  const traceId = eventId.replaceAll("-", "").toLowerCase();
  if (!/^[0-9a-f]{32}$/.test(traceId)) return undefined;
  return { traceId, spanId: traceId.slice(-SPAN_DIGITS) };
}

/** Random ids of traces and spans, unless the next ones are given. */
export class EventIds implements IdGenerator {
  private given: EventTrace | undefined;

  generateTraceId(): string {
    return this.given?.traceId ?? randomBytes(16).toString("hex");
  }

  generateSpanId(): string {
    return this.given?.spanId ?? randomBytes(8).toString("hex");
  }

  /** Starts a span with these ids. */
  start<S>(trace: EventTrace, start: () => S): S {
    this.given = trace;
    try {
      return start();
    } finally {
      this.given = undefined;
    }
  }
}
