import { jobOf } from "../../account/audit/note";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";

/** Of each table in one transaction. */
const BATCH = 500;
/**
 * How many days it is noted that a text came or went. The provider brings one again within minutes, and
 * what is in doubt is looked for there within the hour; what was said stays in the log.
 */
const KEPT_DAYS = 7;

/** Forgets which texts came in and went out a while ago. */
export async function expireSms(database: Database): Promise<void> {
  for (const organizationId of await database.expiredTexts(KEPT_DAYS))
    while (await expireSome(database.scope(organizationId)));
}

/** @returns whether there may be more */
async function expireSome(scope: Scope): Promise<boolean> {
  const operation = jobOf("sms.expire", "Text", null);
  return scope.audited(operation).transaction(async (scope) => {
    const remove = async (table: "sms_received" | "sms_sent", key: string): Promise<number> => {
      const old = scope.table(table).select(key).limit(BATCH);
      old.whereRaw("created_at < now() - ? * interval '1 day'", [KEPT_DAYS]);
      return await scope.table(table).whereIn(key, old).delete();
    };
    const gone = {
      received: await remove("sms_received", "messageSid"),
      sent: await remove("sms_sent", "id"),
    };
    operation.count(gone);
    return Object.values(gone).includes(BATCH);
  });
}
