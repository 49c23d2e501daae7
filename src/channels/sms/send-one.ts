import { currentDate, currentTime } from "../../platform/clock";
import { logChatError } from "../../chats/chats/log-chat-error";
import type { Scope } from "../../platform/database/scope";
import { Deadline, RequestNotSent } from "../../platform/outbound/deadline";
import { SmsDelayed, SmsRefused, type TelephonyLine } from "../../platform/ports/telephony";
import { Contact } from "./contacts";
import { OutgoingTexts, type OutgoingTextRow } from "./outgoing-texts";

/** The provider's time to answer, in ms. */
const TIMEOUT_MS = 10_000;
/** Time after which a request has either been carried out or never will be, in ms. */
const SETTLE_MS = 20_000;
/** Pauses between attempts, in ms; after the last one sending fails for good. */
const RETRY_PAUSES_MS = [2_000, 10_000, 60_000, 300_000, 1_800_000];

/**
 * Sends a text once by the provider's API, even if servers stall or crash meanwhile. @returns when to continue, if a
 * wait is needed
 */
export async function sendOne(
  scope: Scope,
  line: TelephonyLine,
  to: string,
  row: OutgoingTextRow,
): Promise<Date | undefined> {
  const { provider } = scope.ports.telephone;
  const sent = scope.of(OutgoingTexts);
  const { body, attempts } = row;
  const uncertain = uncertainSince(row);
  if (uncertain) {
    const settled = new Date(uncertain.getTime() + SETTLE_MS);
    if (settled > currentDate()) return settled;
    const known = { since: uncertain, known: await sent.sids(row) };
    const found = await provider
      .find(line, { to, body }, known, AbortSignal.timeout(TIMEOUT_MS))
      .catch((error: Error) => error);
    // Sending again is unsafe until the provider can be asked.
    if (found instanceof Error) return retryAt(scope, row, found, attempts);
    if (found !== undefined)
      return void (await sent.change([row.id], { sentAt: currentDate(), messageSid: found }));
  }
  // Notices are sent even so: they answer STOP itself.
  if (
    row.chatId !== null &&
    (await Contact.optedOut(scope, { ownNumber: line.phoneNumber, phoneNumber: to }))
  )
    return void (await sent.change([row.id], { problem: "opted-out" }));
  return send(scope, line, to, row);
}

/** Sends the text by the provider's API. The attempt is stored first and checked right before the request. */
async function send(
  scope: Scope,
  line: TelephonyLine,
  to: string,
  row: OutgoingTextRow,
): Promise<Date | undefined> {
  const { provider, reportsDelivery, statusUrl } = scope.ports.telephone;
  const sent = scope.of(OutgoingTexts);
  const deadline = new Deadline(TIMEOUT_MS);
  if (!(await sent.claim(row))) return undefined;
  try {
    await sent.checkClaim(row, TIMEOUT_MS);
    const sms = { to, body: row.body, ...(reportsDelivery && { statusUrl: statusUrl() }) };
    const messageSid = await provider.send(line, sms, deadline.signal());
    return void (await sent.change([row.id], { sentAt: currentDate(), messageSid }));
  } catch (error) {
    if (error instanceof RequestNotSent) {
      await sent.releaseClaim(row);
      return currentDate();
    }
    return handleFailure(scope, { ...row, attempts: row.attempts + 1 }, error as Error);
  }
}

/** The time since which the text may have been sent without confirmation. */
function uncertainSince({ via, askedAt, createdAt }: OutgoingTextRow): Date | undefined {
  return via === "TWIML" ? createdAt : (askedAt ?? undefined);
}

async function handleFailure(scope: Scope, row: OutgoingTextRow, error: Error): Promise<Date | undefined> {
  if (error instanceof SmsRefused) return giveUp(scope, row, error);
  if (!(error instanceof SmsDelayed)) return retryAt(scope, row, error, row.attempts - 1);
  await scope.of(OutgoingTexts).change([row.id], { askedAt: null });
  const later = await retryAt(scope, row, error, row.attempts - 1);
  return later && new Date(Math.max(later.getTime(), currentTime() + error.seconds * 1_000));
}

async function retryAt(
  scope: Scope,
  row: OutgoingTextRow,
  error: Error,
  failures: number,
): Promise<Date | undefined> {
  const pause = RETRY_PAUSES_MS[failures];
  return pause === undefined ? giveUp(scope, row, error) : currentDate(pause);
}

/** Marks the text as failed and logs the reason. */
async function giveUp(scope: Scope, { id, chatId }: OutgoingTextRow, { message }: Error): Promise<undefined> {
  await scope.of(OutgoingTexts).change([id], { problem: message.slice(0, 500) });
  const error = new Error(`An SMS was not sent. ${message}`);
  if (chatId === null) throw error; // the failed job is logged; its retry finds nothing to do
  await logChatError(scope, chatId, error);
}
