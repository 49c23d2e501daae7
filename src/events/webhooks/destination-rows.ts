import { NEWEST_FIRST } from "../../platform/database/lists/order";
import type { Rows } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { missing } from "../../platform/errors";

export type DestinationRow = Rows["webhook_destinations"];

const BY_ID = statement(({ table, $, db }) =>
  table("webhook_destinations").where("id", db.raw("any(?::text[])", [$(1)])),
);
const BY_PROJECT = statement(({ table, $, db }) =>
  table("webhook_destinations")
    .where("projectId", db.raw("any(?::text[])", [$(1)]))
    .orderBy(NEWEST_FIRST),
);

const LOCKED = statement(({ table, $ }) =>
  table("webhook_destinations")
    .where({ id: $(1) })
    .forNoKeyUpdate(),
);

/** Counts a failed attempt. A failure that began before an attempt may have ended meanwhile, so the row decides. */
export const COUNT_FAILURE = statement<Pick<DestinationRow, "failures" | "enabled" | "failingSince">>(
  ({ db }) =>
    db.raw(`
  update webhook_destinations d set failures = d.failures + 1, failing_since = coalesce(d.failing_since, $3)
  where d.organization_id = $1 and d.id = $2 returning d.failures, d.enabled, d.failing_since`),
);

/** The stored destination, if there is one. Reads in the same tick share one statement. */
export function foundRow(scope: Scope, id: string): Promise<DestinationRow | undefined> {
  const loader = scope.loader<DestinationRow | undefined>("webhook_destinations", async (ids) => {
    const rows = await scope.read(BY_ID, [ids]);
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((one) => found.get(one));
  });
  return loader.load(id);
}

/** The same. @throws WEBHOOK_DESTINATION_NOT_FOUND */
export const sharedRow = async (scope: Scope, id: string): Promise<DestinationRow> =>
  (await foundRow(scope, id)) ?? missing("WebhookDestination", id);

/** The same, as it is until the transaction ends: keys:rotate must not re-encrypt a secret that is about to be copied. */
export async function lockedRow(scope: Scope, id: string): Promise<DestinationRow> {
  const [row] = await scope.write(LOCKED, [id]);
  return row ?? missing("WebhookDestination", id);
}

/** The destinations of a project, newest first. Reads in the same tick share one statement. */
export function rowsOfProject(scope: Scope, projectId: string): Promise<DestinationRow[]> {
  const loader = scope.loader<DestinationRow[]>("webhook_destinations.project", async (ids) => {
    const rows = await scope.read(BY_PROJECT, [ids]);
    return ids.map((one) => rows.filter((row) => row.projectId === one));
  });
  return loader.load(projectId);
}
