import { smsJobOf } from "../../chats/chats/store-message";
import type { Scope } from "../../platform/database/scope";
import type { TelephonyLine } from "../../platform/ports/telephony";
import { TelephonyConnections } from "../../assistants/telephony/telephony-connections";
import { Receipts } from "./receipts";
import { sendOne } from "./send-one";
import { OutgoingTexts } from "./outgoing-texts";
import { takeMessages } from "./take-messages";
import { Threads, type ThreadRow } from "./threads";

/** Enqueues sending the texts of a chat: one job at a time per chat keeps their order. */
export function enqueueSend(scope: Scope, chatId: string, runAt?: Date): Promise<void> {
  const { task, payload, key } = smsJobOf(chatId);
  return scope.enqueue(task, payload, { key, ...(runAt && { runAt }) });
}

/**
 * Sends the texts of a chat by the provider's API. A provider request that still waits for the answer may take it
 * first.
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

/** Sends the texts in order. @returns when to continue, if a wait is needed */
async function sendOpen(scope: Scope, thread: ThreadRow, line: TelephonyLine): Promise<Date | undefined> {
  for (const row of await scope.of(OutgoingTexts).open(thread.chatId)) {
    const later = await sendOne(scope, line, thread.phoneNumber, row);
    if (later) return later;
  }
  return undefined;
}
