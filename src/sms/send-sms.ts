import { currentDate, currentTime } from "../clock";
import { keepError } from "../chats/keep-error";
import { sendingOf } from "../chats/store-message";
import type { Scope } from "../database/scope";
import { Deadline, NotSent } from "../outbound/deadline";
import { SmsDelayed, SmsRefused, type TelephonyLine } from "../ports/telephony";
import { TelephonyConnections } from "../telephony/telephony-connections";
import { Contact } from "./contacts";
import { Receipts } from "./receipts";
import { Sent, type SentRow } from "./sent";
import { takeMessages } from "./take-messages";
import { Threads, type ThreadRow } from "./threads";

/** How long the provider may take to answer, in milliseconds. */
const TIMEOUT = 10_000;
/** After so long what was asked for was sent, or never will be. */
const SETTLED = 20_000;
/** Pauses before a text is tried again, in milliseconds; behind the last one it is given up. */
const PAUSES = [2_000, 10_000, 60_000, 300_000, 1_800_000];

/** Has the texts of a chat sent: one such job at a time for a chat, so that they keep their order. */
export function enqueueSend(scope: Scope, chatId: string, runAt?: Date): Promise<void> {
  const { task, payload, key } = sendingOf(chatId);
  return scope.enqueue(task, payload, { key, ...(runAt && { runAt }) });
}

/**
 * Sends what is to be sent of a chat by the provider's API. While the request that brought a text waits for the
 * answer, that has the first chance to take it.
 */
export async function sendSms(scope: Scope, chatId: string): Promise<void> {
  const thread = await scope.of(Threads).of(chatId);
  if (!thread) return;
  const waits = await scope.of(Receipts).waitingUntil(chatId);
  if (!waits) await scope.transaction((scope) => takeMessages(scope, chatId, "API"));
  const line = await scope.of(TelephonyConnections).lineOf(thread.connectionId);
  const later = line && (await sendOpen(scope, thread, line));
  const next = [waits, later].filter((at) => at !== undefined).sort((a, b) => a.getTime() - b.getTime())[0];
  if (next) await enqueueSend(scope, chatId, next);
}

/** Sends text after text. @returns when to go on, where one has to wait */
async function sendOpen(scope: Scope, thread: ThreadRow, line: TelephonyLine): Promise<Date | undefined> {
  for (const row of await scope.of(Sent).open(thread.chatId)) {
    const later = await sendOne(scope, thread, line, row);
    if (later) return later;
  }
  return undefined;
}

async function sendOne(
  scope: Scope,
  { chatId, phoneNumber: to }: ThreadRow,
  line: TelephonyLine,
  row: SentRow,
): Promise<Date | undefined> {
  const { provider } = scope.ports.telephone;
  const sent = scope.of(Sent);
  const { body, attempts } = row;
  const doubtful = doubtfulSince(row);
  if (doubtful) {
    const settled = new Date(doubtful.getTime() + SETTLED);
    if (settled > currentDate()) return settled;
    const known = { since: doubtful, known: await sent.sids(chatId) };
    const found = await provider
      .find(line, { to, body }, known, AbortSignal.timeout(TIMEOUT))
      .catch((error: Error) => error);
    // While it can't be asked nothing may be sent again.
    if (found instanceof Error) return pauseOf(scope, row, found, attempts);
    if (found !== undefined)
      return void (await sent.change([row.id], { sentAt: currentDate(), messageSid: found }));
  }
  if (await Contact.optedOut(scope, { ownNumber: line.phoneNumber, phoneNumber: to }))
    return void (await sent.change([row.id], { problem: "opted-out" }));
  const deadline = new Deadline(TIMEOUT);
  if (!(await sent.claim(row))) return undefined;
  try {
    await sent.notTakenOver(row, TIMEOUT);
    const { reportsDelivery, statusUrl } = scope.ports.telephone;
    const sms = { to, body, ...(reportsDelivery && { statusUrl: statusUrl() }) };
    const messageSid = await provider.send(line, sms, deadline.signal());
    return void (await sent.change([row.id], { sentAt: currentDate(), messageSid }));
  } catch (error) {
    if (error instanceof NotSent) {
      await sent.giveBack(row);
      return currentDate();
    }
    return failed(scope, { ...row, attempts: attempts + 1 }, error as Error);
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
  await keepError(scope, chatId, new Error(`An SMS was not sent. ${message}`));
}
