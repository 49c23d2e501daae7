import type { TestDatabase } from "./database";

/** A row of the audit log, numbered or still in the outbox. */
export interface AuditRow {
  readonly id: string;
  readonly kind: string;
  readonly actor: string;
  readonly keyId: string | null;
  readonly person: string | null;
  readonly address: string | null;
  readonly interface: string;
  readonly requestId: string | null;
  readonly operation: string;
  readonly recordType: string;
  readonly recordId: string | null;
  readonly fields: readonly { readonly name: string; readonly digest?: string; readonly count?: number }[];
}

const ALL = `
  select organization_id, id, entry, created_at from audit_outbox
  union all
  select organization_id, id, jsonb_build_object('kind', kind, 'actor', actor, 'keyId', key_id, 'person', person,
    'address', address, 'interface', interface, 'requestId', request_id, 'operation', operation,
    'recordType', record_type, 'recordId', record_id, 'fields', fields), created_at from audit_events`;

/** All audit rows of an organization, oldest first. */
export async function auditRows(
  { query }: Pick<TestDatabase, "query">,
  organizationId: string,
): Promise<AuditRow[]> {
  const rows = await query<{ id: string; entry: AuditRow }>(
    `select id, entry from (${ALL}) as entries where organization_id = $1 order by created_at, id`,
    [organizationId],
  );
  return rows.map(({ id, entry }) => ({ ...entry, id }));
}

/** Runs `work`. @returns its result and the audit rows that it added */
export async function recording<R>(
  database: Pick<TestDatabase, "query">,
  organizationId: string,
  work: () => Promise<R>,
): Promise<{ result: R; rows: AuditRow[] }> {
  const before = new Set((await auditRows(database, organizationId)).map(({ id }) => id));
  const result = await work();
  const rows = (await auditRows(database, organizationId)).filter(({ id }) => !before.has(id));
  return { result, rows };
}
