import { jobOf } from "../../account/audit/note";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { EXPIRED_BATCH_SIZE, expireTexts, type TextTable } from "./expire-texts";

/**
 * Retention of the records of sent and received texts, in days. The provider repeats a text within minutes, and
 * uncertain sends are looked up within the hour; the messages themselves stay in the chat.
 */
const RETENTION_DAYS = 7;

/** Deletes old records of sent and received texts. */
export async function expireSms(database: Database): Promise<void> {
  for (const organizationId of await database.expiredTexts(RETENTION_DAYS))
    while (await expireSome(database.scope(organizationId)));
}

/** @returns whether there may be more */
async function expireSome(scope: Scope): Promise<boolean> {
  const operation = jobOf("sms.expire", "Text", null);
  return scope.audited(operation).transaction(async (scope) => {
    const expire = (table: TextTable) => expireTexts(scope, { table, days: RETENTION_DAYS });
    const gone = { received: await expire("sms_received"), sent: await expire("sms_sent") };
    operation.count(gone);
    return Object.values(gone).includes(EXPIRED_BATCH_SIZE);
  });
}
