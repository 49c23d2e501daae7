import type { Scope } from "../database/scope";
import type { Outbound, Outcome } from "../outbound/http";
import { Deliveries, type Claim, type DeliveryStatus } from "./deliveries";
import { WebhookDestinations } from "./destinations";
import { signatureHeaders } from "./signatures";

/** Connecting, sending and the answer's head and body, in milliseconds. */
const TIMEOUT = 15_000;
const READ_BYTES = 65_536;

/** Tries a claimed delivery: the stored text, byte for byte, signed anew. Nothing is open in the database meanwhile. */
export async function send(
  scope: Scope,
  outbound: Outbound,
  claim: Claim,
): Promise<{ outcome: Outcome; status: DeliveryStatus | undefined }> {
  const destinations = scope.of(WebhookDestinations);
  const { body, url, secrets } = await destinations.letter(claim.destinationId, claim.eventId);
  const startedAt = new Date();
  const headers = {
    "content-type": "application/json",
    "user-agent": "Parley/1.0 (webhook)",
    ...signatureHeaders(claim.eventId, body, secrets, Math.floor(startedAt.getTime() / 1_000)),
  };
  const outcome = await outbound.post({ url, body, headers, timeout: TIMEOUT, readBytes: READ_BYTES });
  const status = await scope.of(Deliveries).record(claim, outcome, startedAt);
  if (status !== undefined)
    await destinations.noteOutcome(claim.destinationId, outcome, status === "DELIVERED");
  return { outcome, status };
}
