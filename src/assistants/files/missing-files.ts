import type { Database } from "../../platform/database/database";
import type { Storage } from "../../platform/ports/storage";
import { contentKey } from "./content-key";

/** Number of stored files, and of those whose content a storage lacks, in all organizations. */
export async function missingFiles(
  database: Database,
  storage: Storage,
): Promise<{ readonly missing: number; readonly count: number }> {
  const present = new Set<string>();
  for await (const { key } of storage.list()) present.add(key);
  let [missing, count] = [0, 0];
  for (const organizationId of await database.everyOrganization())
    for (const { id } of await database.scope(organizationId).table("files").select("id")) {
      count++;
      if (!present.has(contentKey(organizationId, id))) missing++;
    }
  return { missing, count };
}
