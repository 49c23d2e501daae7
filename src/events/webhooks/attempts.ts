import { currentDate, currentTime } from "../../platform/clock";
import type { DeliveryAttempt } from "../../platform/database/tables/value-types";
import type { Outcome } from "../../platform/outbound/http";
import type { DeliveryStatus } from "./deliveries";
import type { BegunDelivery } from "./queues";

/** The result of an attempt, as it is stored. */
export interface AttemptResult {
  readonly id: string;
  /** The attempt that must still be the delivery's last one. */
  readonly attempt: number;
  readonly status: DeliveryStatus;
  readonly entry: readonly [DeliveryAttempt];
  /** Time until the next attempt; null if there is none. */
  readonly pauseMs: number | null;
  /** The body that was sent, to be kept for further attempts; null if it is stored, or needed no more. */
  readonly body: string | null;
}

/** Spec gap: seconds between attempts, ± 10 %. After the last one the delivery has failed; it can be replayed. */
const RETRY_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
const MAX_RETRY_AFTER_SECONDS = 3_600;

/** The result to store for the outcome of an attempt to send a body. */
export function resultOf(
  { id, attempt, recordedAttempts, event }: BegunDelivery,
  body: string,
  outcome: Outcome,
  startedAt: Date,
): AttemptResult {
  const entry: DeliveryAttempt = {
    number: attempt,
    status: outcome.kind === "answered" ? outcome.status : null,
    error: outcome.kind === "failed" ? outcome.error : null,
    answer: outcome.kind === "answered" ? firstKibibyte(outcome.body) : null,
    startedAt: startedAt.toISOString(),
    durationMs: currentTime() - startedAt.getTime(),
  };
  const isKept = hasSucceeded(outcome) || event.body !== null;
  return {
    ...{ id, attempt, entry: [entry], body: isKept ? null : body },
    ...nextAttempt(recordedAttempts, outcome),
  };
}

export const NOT_COMPOSABLE =
  "Not sent: the conversation was erased or changed after this event, so its payload can no longer be composed.";

export const DISABLED = "Not sent: the webhook destination was disabled.";

/** The result of a delivery that is not sent any more, and why. */
export function canceledResult({ id, attempt }: BegunDelivery, error: string): AttemptResult {
  const entry: DeliveryAttempt = {
    ...{ number: attempt, status: null, error, answer: null },
    ...{ startedAt: currentDate().toISOString(), durationMs: 0 },
  };
  return { id, attempt, status: "FAILED", entry: [entry], pauseMs: null, body: null };
}

/** The first KiB of a text, cut between characters; U+0000, which PostgreSQL cannot store, is replaced. */
const firstKibibyte = (text: string): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, 1_024), { stream: true }).replaceAll("\0", "\ufffd");

const hasSucceeded = (outcome: Outcome): boolean =>
  outcome.kind === "answered" && outcome.status >= 200 && outcome.status < 300;

/** The status of a delivery after an attempt, and the pause before the next one. */
function nextAttempt(recordedAttempts: number, outcome: Outcome): Pick<AttemptResult, "status" | "pauseMs"> {
  if (hasSucceeded(outcome)) return { status: "DELIVERED", pauseMs: null };
  const pauseSeconds = RETRY_SECONDS[recordedAttempts];
  if (pauseSeconds === undefined) return { status: "FAILED", pauseMs: null };
  const retryAfter = outcome.kind === "answered" ? retryAfterSeconds(outcome.headers["retry-after"]) : 0;
  const seconds = Math.max(
    pauseSeconds * (0.9 + Math.random() * 0.2),
    Math.min(retryAfter, MAX_RETRY_AFTER_SECONDS),
  );
  return { status: "PENDING", pauseMs: seconds * 1_000 };
}

/** Seconds from now of a `Retry-After` header, which has seconds or a date. */
function retryAfterSeconds(header: unknown): number {
  const text = String(header);
  return /^\d+$/.test(text) ? Number(text) : Math.max(0, Date.parse(text) - currentTime()) / 1_000 || 0;
}
