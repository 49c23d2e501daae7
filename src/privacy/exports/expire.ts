import { jobOf } from "../../account/audit/note";
import type { Database } from "../../platform/database/database";
import { EndUserExports } from "./exports";

/** Removes the archives of all organizations that have been kept for long enough. */
export async function expireExports(database: Database): Promise<void> {
  for (const { organizationId, exportId } of await database.expiredExports())
    await database
      .scope(organizationId)
      .audited(jobOf("export.expire", "EndUserExport", exportId))
      .of(EndUserExports)
      .expire(exportId);
}
