import { currentDate } from "../../platform/clock";
import type { Outbound, Outcome } from "../../platform/outbound/http";
import { postTraced } from "../../platform/outbound/post-traced";
import { resultOf, type AttemptResult } from "./attempts";
import type { DeliveryTarget } from "./destinations";
import { eventHeaders } from "./event-headers";
import type { BegunDelivery } from "./queues";
import { signatureHeaders } from "./signatures";

const READ_BYTES = 65_536;

/** An attempt, and what to record of it. */
export interface Attempt {
  readonly outcome: Outcome;
  readonly result: AttemptResult;
  readonly target: DeliveryTarget;
}

/**
 * Tries a delivery that has been begun. Sends the body with new signatures, outside of any transaction.
 * @param timeoutMs covers connecting, sending and receiving the whole answer
 */
export async function send(
  outbound: Outbound,
  target: DeliveryTarget,
  delivery: BegunDelivery,
  body: string,
  timeoutMs: number,
): Promise<Attempt> {
  const { event } = delivery;
  const startedAt = currentDate();
  const headers = {
    "content-type": "application/json",
    "user-agent": "Parley/1.0 (webhook)",
    ...eventHeaders(event),
    ...signatureHeaders(event.id, body, target.secrets, Math.floor(startedAt.getTime() / 1_000)),
  };
  const attributes = {
    "parley.event.id": event.id,
    "parley.delivery.id": delivery.id,
    "parley.delivery.attempt": delivery.attempt,
    "parley.destination.id": target.id,
  };
  const outcome = await postTraced(
    outbound,
    { name: `deliver ${event.name}`, eventId: event.id, attributes },
    { url: target.url, body, headers, timeoutMs, readBytes: READ_BYTES },
  );
  return { outcome, result: resultOf(delivery, body, outcome, startedAt), target };
}
