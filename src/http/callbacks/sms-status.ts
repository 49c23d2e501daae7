import type { IncomingMessage, ServerResponse } from "node:http";
import { callbackOf } from "../../account/audit/note";
import type { Database } from "../../platform/database/database";
import { DomainError } from "../../platform/errors";
import type { Parameters } from "../../platform/ports/telephony";
import { storeDelivery } from "../../channels/sms/delivery";
import { TelephonyConnections } from "../../assistants/telephony/telephony-connections";
import type { CallbackHandler } from "./engine-callbacks";
import type { Metrics } from "../metrics/metrics";

interface Parts {
  readonly database: Database;
  readonly metrics: Pick<Metrics, "countSmsStatus">;
  /** IP address of the client. */
  readonly addressOf: (req: IncomingMessage) => string;
}

export const SIGNATURE_MISMATCH =
  "The signature does not match this number's account. Check its auth token (updateTelephonyConnection) and PUBLIC_BASE_URL, which is part of the signed URL.";

/** Handler for the telephony provider's delivery reports. The body is a form. */
export const smsStatus = (parts: Parts): { readonly smsStatus: CallbackHandler } => ({
  smsStatus: (req, res, body) => take(parts, req, res, body as Parameters), // the route parses a form
});

async function take(
  { database, metrics, addressOf }: Parts,
  req: IncomingMessage,
  res: ServerResponse,
  parameters: Parameters,
): Promise<void> {
  const { url = "", headers } = req;
  const { provider, statusUrl } = database.scope("").ports.telephone;
  const report = provider.readStatus(parameters);
  const [owner] = report ? await database.ownersOfNumbers(report.from) : [];
  const scope = owner && database.scope(owner.organizationId);
  const line = owner && (await scope!.of(TelephonyConnections).lineOf(owner.connectionId));
  const signature = headers[provider.signatureHeader];
  const signed = statusUrl() + url.slice(url.split("?", 1)[0]!.length);
  const isSigned =
    line && typeof signature === "string" && provider.signed(line.authToken, signed, parameters, signature);
  if (!report || !scope || !isSigned) {
    metrics.countSmsStatus("refused");
    throw new DomainError("FORBIDDEN", SIGNATURE_MISMATCH);
  }
  const about = { operation: "smsStatus", recordType: "Message", address: addressOf(req) };
  const audited = scope.audited(callbackOf(scope, { ...about, fields: [{ name: "metadata.delivery" }] }));
  const changed = await storeDelivery(audited, report);
  metrics.countSmsStatus(changed ? "applied" : "repeated");
  const { type, body } = provider.answer([]);
  res.writeHead(200, { "Content-Type": type });
  res.end(body);
}
