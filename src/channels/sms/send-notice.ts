import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import { TelephonyConnections } from "../../assistants/telephony/telephony-connections";
import { sendOne } from "./send-one";
import { OutgoingTexts } from "./outgoing-texts";

/** A notice outside any chat. */
export interface Notice {
  readonly connectionId: string;
  /** Recipient's phone number. */
  readonly to: string;
  readonly text: string;
}

/** Stores a notice and enqueues sending it by the provider's API. Runs in a transaction. */
export async function enqueueNotice(scope: Scope, notice: Notice): Promise<void> {
  const { connectionId, to: phoneNumber, text: body } = notice;
  const smsId = newId();
  await scope.insert("sms_sent", { id: smsId, via: "API", connectionId, phoneNumber, body });
  await enqueueSending(scope, { ...notice, smsId });
}

const enqueueSending = (scope: Scope, notice: Notice & { readonly smsId: string }, runAt?: Date) =>
  scope.enqueue("sms.tell", { ...notice }, { key: `sms.tell:${notice.smsId}`, ...(runAt && { runAt }) });

/**
 * Sends a notice.
 * @param smsId id of the stored notice; absent in jobs from an earlier version, whose notice is stored now
 */
export async function sendNotice(
  scope: Scope,
  { smsId, ...sentence }: Notice & { readonly smsId: string | undefined },
): Promise<void> {
  if (smsId === undefined) return scope.transaction((scope) => enqueueNotice(scope, sentence));
  const row = await scope.of(OutgoingTexts).openNotice(smsId);
  const line = row && (await scope.of(TelephonyConnections).lineOf(sentence.connectionId));
  const later = line && (await sendOne(scope, line, sentence.to, row));
  if (later) await enqueueSending(scope, { ...sentence, smsId }, later);
}
