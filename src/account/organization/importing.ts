import { currentDate } from "../../platform/clock";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";

/** An import counts as under way for this long after the last use of its key: it may wait for one of the services. */
const UNDER_WAY = "1 day";

const USED_IMPORTERS = statement<{ id: string }>(({ db }) =>
  db.raw(`
  select api_keys.id from api_keys where api_keys.organization_id = $1 and jsonb_exists(api_keys.permissions, 'import')
    and api_keys.last_used_at > now() - interval '${UNDER_WAY}' limit 1`),
);

/** Whether somebody imports into the organization: what later parts of the import need may look unused until then. */
export const isImporting = async (scope: Scope): Promise<boolean> =>
  (await scope.read(USED_IMPORTERS, [])).length > 0;

/** Stores the use of the importer's key in the transaction: otherwise, it is stored later, and by chance not at all. */
export async function noteImport(scope: Scope): Promise<void> {
  const id = scope.operation?.author.keyId;
  if (id) await scope.table("api_keys").where({ id }).update({ lastUsedAt: currentDate() });
}
