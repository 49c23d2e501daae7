import type { Scope } from "../../platform/database/scope";
import type { SmsStatus } from "../../platform/ports/telephony";

/** From the first to the last; a report that comes late changes nothing. */
const ORDER = [
  "accepted",
  "queued",
  "sending",
  "sent",
  "delivered",
  "read",
  "undelivered",
  "failed",
  "canceled",
];
const FAILED = ["undelivered", "failed", "canceled"];

const rank = (status: string | null): number => ORDER.indexOf(status ?? "");

/** Keeps what the provider reports of a text, and shows it on the message. @returns whether it is news */
export async function keepDelivery(
  scope: Scope,
  { messageSid, status, errorCode }: SmsStatus,
): Promise<boolean> {
  return scope.transaction(async (scope) => {
    const texts = () => scope.table("sms_sent");
    const [text] = await texts().where({ messageSid }).forUpdate();
    if (!text || rank(status) <= rank(text.delivery)) return false;
    await texts()
      .where({ id: text.id })
      .update({ delivery: status, deliveryError: errorCode ?? null });
    if (text.messageId !== null) await show(scope, text.messageId);
    scope.operation?.about(text.messageId);
    await scope.storeEntry(); // no event tells of it
    return true;
  });
}

/** Of a message in several texts the one that went worst, or is least far. */
async function show(scope: Scope, id: string): Promise<void> {
  const parts = await scope.table("sms_sent").where({ messageId: id });
  const failed = parts.find(({ delivery }) => FAILED.includes(delivery ?? ""));
  const shown = failed ?? parts.toSorted((a, b) => rank(a.delivery) - rank(b.delivery))[0];
  if (!shown?.delivery) return;
  const { delivery: status, deliveryError: errorCode } = shown;
  const metadata = scope.merged("metadata", {
    delivery: { status, ...(errorCode !== null && { errorCode }) },
  });
  await scope.table("messages").where({ id }).update({ metadata });
}
