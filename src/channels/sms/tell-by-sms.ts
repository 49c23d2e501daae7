import { newId } from "../../platform/database/ids";
import type { Scope } from "../../platform/database/scope";
import { TelephonyConnections } from "../../assistants/telephony/telephony-connections";
import { sendOne } from "./send-one";
import { Sent } from "./sent";

/** A sentence that belongs to no chat. */
export interface Sentence {
  readonly connectionId: string;
  /** The person's number. */
  readonly to: string;
  readonly text: string;
}

/** Has a sentence sent by the provider's API; in a transaction. */
export async function enqueueSentence(scope: Scope, sentence: Sentence): Promise<void> {
  const { connectionId, to: phoneNumber, text: body } = sentence;
  const smsId = newId();
  await scope.insert("sms_sent", { id: smsId, via: "API", connectionId, phoneNumber, body });
  await enqueueTelling(scope, { ...sentence, smsId });
}

const enqueueTelling = (scope: Scope, told: Sentence & { readonly smsId: string }, runAt?: Date) =>
  scope.enqueue("sms.tell", { ...told }, { key: `sms.tell:${told.smsId}`, ...(runAt && { runAt }) });

/** @param smsId under which the sentence is stored; absent if an earlier version asked for it: then it is stored now */
export async function tellBySms(
  scope: Scope,
  { smsId, ...sentence }: Sentence & { readonly smsId: string | undefined },
): Promise<void> {
  if (smsId === undefined) return scope.transaction((scope) => enqueueSentence(scope, sentence));
  const row = await scope.of(Sent).openSentence(smsId);
  const line = row && (await scope.of(TelephonyConnections).lineOf(sentence.connectionId));
  const later = line && (await sendOne(scope, line, sentence.to, row));
  if (later) await enqueueTelling(scope, { ...sentence, smsId }, later);
}
