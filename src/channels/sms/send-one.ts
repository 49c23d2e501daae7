import { currentDate, currentTime } from "../../platform/clock";
import { keepError } from "../../chats/chats/keep-error";
import type { Scope } from "../../platform/database/scope";
import { Deadline, NotSent } from "../../platform/outbound/deadline";
import { SmsDelayed, SmsRefused, type TelephonyLine } from "../../platform/ports/telephony";
import { Contact } from "./contacts";
import { Sent, type SentRow } from "./sent";

/** How long the provider may take to answer, in milliseconds. */
const TIMEOUT = 10_000;
/** After so long what was asked for was sent, or never will be. */
const SETTLED = 20_000;
/** Pauses before a text is tried again, in milliseconds; behind the last one it is given up. */
const PAUSES = [2_000, 10_000, 60_000, 300_000, 1_800_000];

/** Sends a text by the provider's API, once, whichever servers stall or die meanwhile. @returns when to go on, where one has to wait */
export async function sendOne(
  scope: Scope,
  line: TelephonyLine,
  to: string,
  row: SentRow,
): Promise<Date | undefined> {
  const { provider } = scope.ports.telephone;
  const sent = scope.of(Sent);
  const { body, attempts } = row;
  const doubtful = doubtfulSince(row);
  if (doubtful) {
    const settled = new Date(doubtful.getTime() + SETTLED);
    if (settled > currentDate()) return settled;
    const known = { since: doubtful, known: await sent.sids(row) };
    const found = await provider
      .find(line, { to, body }, known, AbortSignal.timeout(TIMEOUT))
      .catch((error: Error) => error);
    // While it can't be asked nothing may be sent again.
    if (found instanceof Error) return pauseOf(scope, row, found, attempts);
    if (found !== undefined)
      return void (await sent.change([row.id], { sentAt: currentDate(), messageSid: found }));
  }
  // A sentence is an answer, as the one to STOP.
  if (
    row.chatId !== null &&
    (await Contact.optedOut(scope, { ownNumber: line.phoneNumber, phoneNumber: to }))
  )
    return void (await sent.change([row.id], { problem: "opted-out" }));
  return ask(scope, line, to, row);
}

/** Has the provider send it. The attempt is stored before, and checked right before the request leaves. */
async function ask(scope: Scope, line: TelephonyLine, to: string, row: SentRow): Promise<Date | undefined> {
  const { provider, reportsDelivery, statusUrl } = scope.ports.telephone;
  const sent = scope.of(Sent);
  const deadline = new Deadline(TIMEOUT);
  if (!(await sent.claim(row))) return undefined;
  try {
    await sent.notTakenOver(row, TIMEOUT);
    const sms = { to, body: row.body, ...(reportsDelivery && { statusUrl: statusUrl() }) };
    const messageSid = await provider.send(line, sms, deadline.signal());
    return void (await sent.change([row.id], { sentAt: currentDate(), messageSid }));
  } catch (error) {
    if (error instanceof NotSent) {
      await sent.giveBack(row);
      return currentDate();
    }
    return failed(scope, { ...row, attempts: row.attempts + 1 }, error as Error);
  }
}

/** Since when it may have been sent without anybody knowing it. */
function doubtfulSince({ via, askedAt, createdAt }: SentRow): Date | undefined {
  return via === "TWIML" ? createdAt : (askedAt ?? undefined);
}

async function failed(scope: Scope, row: SentRow, error: Error): Promise<Date | undefined> {
  if (error instanceof SmsRefused) return giveUp(scope, row, error);
  if (!(error instanceof SmsDelayed)) return pauseOf(scope, row, error, row.attempts - 1);
  await scope.of(Sent).change([row.id], { askedAt: null });
  const later = await pauseOf(scope, row, error, row.attempts - 1);
  return later && new Date(Math.max(later.getTime(), currentTime() + error.seconds * 1_000));
}

async function pauseOf(
  scope: Scope,
  row: SentRow,
  error: Error,
  failures: number,
): Promise<Date | undefined> {
  const pause = PAUSES[failures];
  return pause === undefined ? giveUp(scope, row, error) : currentDate(pause);
}

/** The log tells what was not sent, and why. */
async function giveUp(scope: Scope, { id, chatId }: SentRow, { message }: Error): Promise<undefined> {
  await scope.of(Sent).change([id], { problem: message.slice(0, 500) });
  const error = new Error(`An SMS was not sent. ${message}`);
  if (chatId === null) throw error; // the job fails, which is logged; when it runs again, nothing is left to do
  await keepError(scope, chatId, error);
}
