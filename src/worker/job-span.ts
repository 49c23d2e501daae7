import { tracing } from "../platform/tracing/tracing";
import { idsIn } from "./given-up";

/**
 * Runs a job in a span. A job that the statement of a request started belongs to the trace of that request; one from the
 * queue begins a trace, because its payload names records only, and so does a periodic task.
 */
export function inJobSpan(task: string, payload: unknown, work: () => Promise<void>): Promise<void> {
  const { tracer } = tracing;
  if (!tracer) return work();
  const ids = Object.entries(idsIn(payload)).map(([name, id]) => [
    `parley.${name.replace(/Id$/, "")}.id`,
    id,
  ]);
  const attributes = { "parley.task": task, ...(Object.fromEntries(ids) as Record<string, string>) };
  return tracer.run(`job ${task}`, { kind: "consumer", attributes }, work);
}
