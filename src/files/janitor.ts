import { currentTime } from "../clock";
import type { Database } from "../database/database";
import type { Storage } from "../ports/storage";

/** Younger than this, in milliseconds, a file may belong to an upload that is still running. */
const SETTLED = 3_600_000;

/** Removes from the storage what a crash left there: half-written files, and files whose record was never made. */
export async function sweepFiles(database: Database, storage: Storage, now = currentTime()): Promise<void> {
  for await (const { key, storedAt } of storage.list()) {
    if (now - storedAt.getTime() < SETTLED) continue;
    const [organizationId = "", id = ""] = key.split("/");
    const scope = database.scope(organizationId);
    // A folder of no organization here belongs to another database on the same storage: it is not ours to clear.
    const ours = (await scope.shared("organizations").where({ id: organizationId })) as unknown[];
    const known = (await scope.table("files").select("id").where({ id })) as unknown[];
    if (ours.length > 0 && known.length === 0) await storage.remove(key);
  }
}
