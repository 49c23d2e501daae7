import { currentDate } from "../../platform/clock";
import type { Scope } from "../../platform/database/scope";
import type { Outbound, Outcome } from "../../platform/outbound/http";
import { Deliveries, type Claim, type DeliveryStatus } from "./deliveries";
import { WebhookDestinations } from "./destinations";
import { eventHeaders } from "./event-headers";
import { signatureHeaders } from "./signatures";

const READ_BYTES = 65_536;

/**
 * Tries a claimed delivery. Sends the stored body unchanged, with new signatures, outside of any transaction.
 * @param timeoutMs covers connecting, sending and receiving the whole answer
 */
export async function send(
  scope: Scope,
  outbound: Outbound,
  claim: Claim,
  timeoutMs: number,
): Promise<{ outcome: Outcome; status: DeliveryStatus | undefined }> {
  const destinations = scope.of(WebhookDestinations);
  const { event, url, secrets, failingSince } = await destinations.requestFor(
    claim.destinationId,
    claim.eventId,
  );
  const { body } = event;
  const startedAt = currentDate();
  const headers = {
    "content-type": "application/json",
    "user-agent": "Parley/1.0 (webhook)",
    ...eventHeaders(event),
    ...signatureHeaders(claim.eventId, body, secrets, Math.floor(startedAt.getTime() / 1_000)),
  };
  const outcome = await outbound.post({
    url,
    body,
    headers,
    timeoutMs,
    provider: "a webhook destination",
    readBytes: READ_BYTES,
  });
  const status = await scope.of(Deliveries).record(claim, outcome, startedAt);
  if (status !== undefined)
    await destinations.recordOutcome(claim.destinationId, outcome, status === "DELIVERED", failingSince);
  return { outcome, status };
}
