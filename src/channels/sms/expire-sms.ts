import { jobOf } from "../../account/audit/note";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";

/** Rows deleted per table in one transaction. */
const BATCH_SIZE = 500;
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
    const remove = async (table: "sms_received" | "sms_sent", key: string): Promise<number> => {
      const old = scope.table(table).select(key).orderBy("createdAt").limit(BATCH_SIZE);
      old.whereRaw("created_at < now() - ? * interval '1 day'", [RETENTION_DAYS]);
      return await scope.table(table).whereRaw("?? = any(array(?))", [key, old]).delete();
    };
    const gone = {
      received: await remove("sms_received", "messageSid"),
      sent: await remove("sms_sent", "id"),
    };
    operation.count(gone);
    return Object.values(gone).includes(BATCH_SIZE);
  });
}
