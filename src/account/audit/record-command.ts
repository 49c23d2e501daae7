import type { Database } from "../../platform/database/database";
import type { AuditedField } from "../../platform/database/tables/audited-operation";
import { commandOf } from "./note";

/** Numbers of changed rows, by organization and kind. */
export type CountsByOrganization = ReadonlyMap<string, Readonly<Record<string, number>>>;

/**
 * Records a command that concerns the whole installation in the audit log of every organization.
 * @param counts changed rows, of the organizations that have any
 */
export async function recordCommand(
  database: Database,
  operation: string,
  fields: readonly AuditedField[] = [],
  counts: CountsByOrganization = new Map(),
): Promise<void> {
  for (const organizationId of await database.everyOrganization())
    await recordFor(database, organizationId, operation, fields, counts.get(organizationId) ?? {});
}

/** Records a command in the audit log of one organization. */
async function recordFor(
  database: Database,
  organizationId: string,
  operation: string,
  fields: readonly AuditedField[],
  counts: Readonly<Record<string, number>>,
): Promise<void> {
  const command = commandOf(operation, "Installation", fields);
  command.about(null);
  command.count(counts);
  await database.scope(organizationId).audited(command).storeEntry();
}
