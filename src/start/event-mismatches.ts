import type { Logger } from "pino";
import { MISMATCHES, type PayloadMismatch } from "../events/schemas/check-payload";
import type { Metrics } from "../http/metrics/metrics";
import { FailureCount } from "../platform/failure-count";

/** Counts and logs events whose payload does not match its schema. @returns a function that stops it */
export function reportMismatches(metrics: Metrics, logger: Logger): () => void {
  const failures = new FailureCount();
  const report = (message: unknown) => {
    const { event, problem } = message as PayloadMismatch; // the only messages of this channel
    metrics.countMismatch(event);
    const since = failures.toLog(`${event} ${problem}`);
    if (since !== undefined)
      logger.error({ event, problem, since }, "an event does not match its schema, but is recorded and sent");
  };
  MISMATCHES.subscribe(report);
  return () => void MISMATCHES.unsubscribe(report);
}
