import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { callbackOf, fieldOf } from "../account/audit/note";
import type { Database } from "../platform/database/database";
import type { Scope } from "../platform/database/scope";
import { DomainError } from "../platform/errors";
import type { Parameters, ReceivedSms } from "../platform/ports/telephony";
import { answerSms, Bells, noteAnswered, type SmsAnswer } from "../channels/sms/answer-sms";
import { Receipts } from "../channels/sms/receipts";
import { TelephonyConnections } from "../assistants/telephony/telephony-connections";
import type { Serve } from "./engine-callbacks";
import type { RateLimits } from "./limits";
import type { Metrics } from "./metrics";
import { smsStatus } from "./sms-status";

interface Parts {
  readonly database: Database;
  readonly metrics: Pick<Metrics, "countSms" | "countSmsStatus">;
  /** Address of the client. */
  readonly addressOf: (req: IncomingMessage) => string;
  readonly limits: Pick<RateLimits, "take">;
  readonly logger: Logger;
}

const NOTHING: SmsAnswer = { texts: [], taken: [] };

/** What the telephony provider sends: texts that came in, which are answered, and reports of those that went out. Bodies are forms. */
export function smsIntercept(parts: Parts): { readonly interceptSms: Serve; readonly smsStatus: Serve } {
  const { ports } = parts.database.scope("");
  const bells = new Bells(ports.listener);
  return {
    interceptSms: (req, res, body) => intercept(parts, bells, req, res, body as Parameters), // as the row says
    ...smsStatus(parts),
  };
}

async function intercept(
  { database, metrics, limits, logger, addressOf }: Parts,
  bells: Bells,
  req: IncomingMessage,
  res: ServerResponse,
  parameters: Parameters,
): Promise<void> {
  const { provider } = database.scope("").ports.telephone;
  const sms = provider.read(parameters);
  const found = sms && (await connectionOf(database, sms, req, parameters));
  await limits.take(req, res, found?.scope).catch((error: unknown) => {
    metrics.countSms("limited");
    throw error;
  });
  if (!found) {
    metrics.countSms("refused");
    // Whether the number is connected here is not told.
    throw new DomainError("FORBIDDEN", "The signature is not the one of this number's account.");
  }
  const { scope, connectionId, own } = found;
  const received = auditOf(scope, sms, addressOf(req));
  received.about(connectionId);
  const gone = new AbortController();
  res.on("close", () => gone.abort());
  // A number of ours that answers a number of ours would never end.
  const receipt = own
    ? undefined
    : await scope.audited(received).of(Receipts).accept(connectionId, sms, !bells.crowded);
  metrics.countSms(receipt ? "accepted" : "own-number");
  const answer = receipt ? await answerSms(scope, receipt, bells, gone.signal) : NOTHING;
  if (!noteWhenSent(scope, answer, res, logger)) return;
  const { type, body } = provider.answer(answer.texts);
  res.writeHead(200, { "Content-Type": type });
  res.end(body);
}

/** The audit entry of a text: the sender and the words stand there as digests. */
const auditOf = (scope: Scope, { from, text }: ReceivedSms, address: string) =>
  callbackOf(scope, {
    operation: "interceptSms",
    recordType: "TelephonyConnection",
    phoneNumber: from,
    fields: [fieldOf(scope, "phoneNumber", from, true), fieldOf(scope, "content", text, true)],
    address,
  });

/** Records whether the provider gets the answer. @returns false if it has gone already */
function noteWhenSent(
  scope: Scope,
  { chatId, taken }: SmsAnswer,
  res: ServerResponse,
  logger: Logger,
): boolean {
  if (chatId === undefined || taken.length === 0) return true;
  const note = (got: boolean) =>
    void noteAnswered(scope, chatId, taken, got).catch((error: unknown) =>
      logger.warn({ err: error }, "it was not recorded that an SMS was answered"),
    );
  const gone = res.closed || res.destroyed;
  if (gone) note(false);
  else res.on("close", () => note(res.writableFinished));
  return !gone;
}

/** The number that a text came to, where the owner of its account sent the request, and whether it came from a number of ours. */
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
  // As the provider knows it: what a proxy in front of us made of host and port does not matter.
  const signed = interceptUrl() + url.slice(url.split("?", 1)[0]!.length);
  if (!line || typeof signature !== "string") return undefined;
  if (!provider.signed(line.authToken, signed, parameters, signature)) return undefined;
  return { scope, connectionId: owner.connectionId, own: sender !== undefined };
}
