import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { callbackOf, fieldOf } from "../../account/audit/note";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import type { Parameters, ReceivedSms } from "../../platform/ports/telephony";
import { answerSms, noteAnswered, Waiters, type SmsAnswer } from "../../channels/sms/answer-sms";
import { Receipts } from "../../channels/sms/receipts";
import { TelephonyConnections } from "../../assistants/telephony/telephony-connections";
import type { CallbackHandler } from "./engine-callbacks";
import type { RateLimits } from "../limits/limits";
import type { Metrics } from "../metrics/metrics";
import { SIGNATURE_MISMATCH } from "./sms-status";
import { smsStatus } from "./sms-status";

interface Parts {
  readonly database: Database;
  readonly metrics: Pick<Metrics, "countSms" | "countSmsStatus">;
  /** IP address of the client. */
  readonly addressOf: (req: IncomingMessage) => string;
  readonly limits: Pick<RateLimits, "take">;
  readonly logger: Logger;
}

const NOTHING: SmsAnswer = { texts: [], taken: [] };

/**
 * Handlers for the telephony provider's requests: received texts, which are answered, and delivery reports. Bodies
 * are forms.
 */
export function smsIntercept(parts: Parts): {
  readonly interceptSms: CallbackHandler;
  readonly smsStatus: CallbackHandler;
} {
  const { ports } = parts.database.scope("");
  const waiters = new Waiters(ports.listener);
  return {
    interceptSms: (req, res, body) => intercept(parts, waiters, req, res, body as Parameters), // the route parses a form
    ...smsStatus(parts),
  };
}

async function intercept(
  { database, metrics, limits, logger, addressOf }: Parts,
  waiters: Waiters,
  req: IncomingMessage,
  res: ServerResponse,
  parameters: Parameters,
): Promise<void> {
  const { provider } = database.scope("").ports.telephone;
  const sms = provider.read(parameters);
  const found = sms && (await connectionOf(database, sms, req, parameters));
  try {
    limits.take(req, res, found?.scope);
  } catch (error) {
    metrics.countSms("limited");
    throw error;
  }
  if (!found) {
    metrics.countSms("refused");
    // Does not reveal whether the number is connected.
    throw new DomainError("FORBIDDEN", SIGNATURE_MISMATCH);
  }
  const { scope, connectionId, own } = found;
  const received = auditOf(scope, sms, addressOf(req));
  received.about(connectionId);
  const gone = new AbortController();
  res.on("close", () => gone.abort());
  // Two connected numbers that answer each other would never stop.
  const receipt = own
    ? undefined
    : await scope.audited(received).of(Receipts).accept(connectionId, sms, !waiters.isFull);
  metrics.countSms(receipt ? "accepted" : "own-number");
  const answer = receipt ? await answerSms(scope, receipt, waiters, gone.signal) : NOTHING;
  if (!noteWhenSent(scope, answer, res, logger)) return;
  const { type, body } = provider.answer(answer.texts);
  res.writeHead(200, { "Content-Type": type });
  res.end(body);
}

/** The audit entry of a text, with digests of the sender and the content. */
const auditOf = (scope: Scope, { from, text }: ReceivedSms, address: string) =>
  callbackOf(scope, {
    operation: "interceptSms",
    recordType: "TelephonyConnection",
    phoneNumber: from,
    fields: [fieldOf(scope, "phoneNumber", from, true), fieldOf(scope, "content", text, true)],
    address,
  });

/** Records whether the provider received the answer. @returns false if it has already disconnected */
function noteWhenSent(
  scope: Scope,
  { chatId, taken }: SmsAnswer,
  res: ServerResponse,
  logger: Logger,
): boolean {
  if (chatId === undefined || taken.length === 0) return true;
  const record = (delivered: boolean) =>
    void noteAnswered(scope, chatId, taken, delivered).catch((error: unknown) =>
      logger.warn({ err: error }, "could not record the delivery of an SMS answer"),
    );
  const gone = res.closed || res.destroyed;
  if (gone) record(false);
  else res.on("close", () => record(res.writableFinished));
  return !gone;
}

/**
 * The number that a text was sent to, if the request is signed by the number's account, and whether the sender is a
 * connected number too.
 */
async function connectionOf(
  database: Database,
  { to, from }: ReceivedSms,
  { url = "", headers }: IncomingMessage,
  parameters: Parameters,
): Promise<{ scope: Scope; connectionId: string; own: boolean } | undefined> {
  const [owner, sender] = await database.ownersOfNumbers(to, from);
  if (!owner) return undefined;
  const scope = database.scope(owner.organizationId);
  const { provider, interceptUrl } = scope.ports.telephone;
  const line = await scope.of(TelephonyConnections).lineOf(owner.connectionId);
  const signature = headers[provider.signatureHeader];
  // The URL as the provider knows it, independent of what a proxy made of host and port.
  const signed = interceptUrl() + url.slice(url.split("?", 1)[0]!.length);
  if (!line || typeof signature !== "string") return undefined;
  if (!provider.signed(line.authToken, signed, parameters, signature)) return undefined;
  return { scope, connectionId: owner.connectionId, own: sender !== undefined };
}
