import { currentTime } from "../../platform/clock";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import type { Storage } from "../../platform/ports/storage";
import { DIGEST_OF_ID, isDigest } from "./content-key";

/** Younger files may belong to an upload in progress. */
const MIN_AGE_MS = 3_600_000;

/** Objects that cannot be removed after which a sweep ends: the storage is then away. */
const MOST_FAILURES = 10;

/**
 * Removes files and archives without a record from the storage: remains of crashes. @throws Error about one that could
 * not be removed, after the others
 */
export async function sweepFiles(database: Database, storage: Storage, now = currentTime()): Promise<void> {
  const failures: unknown[] = [];
  for await (const { key, storedAt } of storage.list()) {
    if (now - storedAt.getTime() < MIN_AGE_MS) continue;
    const [organizationId = "", id = ""] = key.split("/");
    const scope = database.scope(organizationId);
    // A folder of an unknown organization can belong to another database that uses the same storage.
    const found = await scope.shared("organizations").where({ id: organizationId });
    if (found.length > 0 && !(await isKnown(scope, id)))
      await storage.remove(key).catch((error: unknown) => void failures.push(error));
    if (failures.length === MOST_FAILURES) break;
  }
  if (failures.length > 0) throw failures[0];
}

async function isKnown(scope: Scope, id: string): Promise<boolean> {
  const files = scope.table("files").select("id");
  const found = await Promise.all([
    isDigest(id) ? files.whereRaw(`${DIGEST_OF_ID} = ?`, [id]) : files.where({ id }),
    scope.table("end_user_exports").select("id").where({ archiveId: id }),
  ]);
  return found.flat().length > 0;
}
