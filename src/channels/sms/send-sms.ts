import { sendingOf } from "../../chats/chats/store-message";
import type { Scope } from "../../platform/database/scope";
import type { TelephonyLine } from "../../platform/ports/telephony";
import { TelephonyConnections } from "../../assistants/telephony/telephony-connections";
import { Receipts } from "./receipts";
import { sendOne } from "./send-one";
import { Sent } from "./sent";
import { takeMessages } from "./take-messages";
import { Threads, type ThreadRow } from "./threads";

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
    const later = await sendOne(scope, line, thread.phoneNumber, row);
    if (later) return later;
  }
  return undefined;
}
