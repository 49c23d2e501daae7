import { jobOf } from "../../account/audit/note";
import type { Database } from "../../platform/database/database";
import { EndUserExports } from "./exports";

/** Removes expired archives of all organizations. */
export async function expireExports(database: Database): Promise<void> {
  for (const { organizationId, exportId } of await database.expiredExports())
    await database
      .scope(organizationId)
      .audited(jobOf("export.expire", "EndUserExport", exportId))
      .of(EndUserExports)
      .expire(exportId);
}
