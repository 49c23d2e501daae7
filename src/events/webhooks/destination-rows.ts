import { NEWEST_FIRST } from "../../platform/database/order";
import type { Rows } from "../../platform/database/rows";
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

/** The stored destination. Reads in the same tick share one statement. @throws WEBHOOK_DESTINATION_NOT_FOUND */
export async function sharedRow(scope: Scope, id: string): Promise<DestinationRow> {
  const loader = scope.loader<DestinationRow | undefined>("webhook_destinations", async (ids) => {
    const rows = await scope.read(BY_ID, [ids]);
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((one) => found.get(one));
  });
  return (await loader.load(id)) ?? missing("WebhookDestination", id);
}

/** The destinations of a project, newest first. Reads in the same tick share one statement. */
export function rowsOfProject(scope: Scope, projectId: string): Promise<DestinationRow[]> {
  const loader = scope.loader<DestinationRow[]>("webhook_destinations.project", async (ids) => {
    const rows = await scope.read(BY_PROJECT, [ids]);
    return ids.map((one) => rows.filter((row) => row.projectId === one));
  });
  return loader.load(projectId);
}
