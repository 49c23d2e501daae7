import type { Scope } from "../../platform/database/scope";
import type { SmsStatus } from "../../platform/ports/telephony";

/** Delivery states in order; a report that arrives late changes nothing. */
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

/** Stores a delivery report of a text and shows it in the message's metadata. @returns whether the status changed */
export async function storeDelivery(
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
    if (text.messageId !== null) await updateMessage(scope, text.messageId);
    scope.operation?.about(text.messageId);
    await scope.storeEntry(); // no event covers this change
    return true;
  });
}

/** Sets the delivery status of a message: a failed part wins, else the least advanced part. */
async function updateMessage(scope: Scope, id: string): Promise<void> {
  const parts = await scope.table("sms_sent").where({ messageId: id });
  const failed = parts.find(({ delivery }) => FAILED.includes(delivery ?? ""));
  const decisive = failed ?? parts.toSorted((a, b) => rank(a.delivery) - rank(b.delivery))[0];
  if (!decisive?.delivery) return;
  const { delivery: status, deliveryError: errorCode } = decisive;
  const metadata = scope.merged("metadata", {
    delivery: { status, ...(errorCode !== null && { errorCode }) },
  });
  await scope.table("messages").where({ id }).update({ metadata });
}
