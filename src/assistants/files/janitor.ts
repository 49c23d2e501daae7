import { currentTime } from "../../platform/clock";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import type { Storage } from "../../platform/ports/storage";

/** Younger than this, in milliseconds, a file may belong to an upload that is still running. */
const MIN_AGE_MS = 3_600_000;

/** Removes from the storage what a crash left there: half-written files, and files and archives whose record was never made, or names them no longer. */
export async function sweepFiles(database: Database, storage: Storage, now = currentTime()): Promise<void> {
  for await (const { key, storedAt } of storage.list()) {
    if (now - storedAt.getTime() < MIN_AGE_MS) continue;
    const [organizationId = "", id = ""] = key.split("/");
    const scope = database.scope(organizationId);
    // A folder of no organization here belongs to another database on the same storage: it is not ours to clear.
    const ours = await scope.shared("organizations").where({ id: organizationId });
    if (ours.length > 0 && !(await isKnown(scope, id))) await storage.remove(key);
  }
}

async function isKnown(scope: Scope, id: string): Promise<boolean> {
  const found = await Promise.all([
    scope.table("files").select("id").where({ id }),
    scope.table("end_user_exports").select("id").where({ archiveId: id }),
  ]);
  return found.flat().length > 0;
}
