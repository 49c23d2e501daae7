import type { Knex } from "knex";

/**
 * Creates a table of rows that belong to an organization: keyed by organization first, so that it can be distributed
 * by organization, gone with it, and hidden by row-level security from a role that does not own the table unless the
 * setting `parley.organization_id` names the organization.
 * @param primaryKey columns after the organization; null for a table with one row per organization
 */
export async function createTenantTable(
  db: Knex,
  name: string,
  columns: string,
  primaryKey: string | null = "id",
): Promise<void> {
  await db.raw(`
    create table ${name} (
      organization_id text collate "C" not null references organizations (id) on delete cascade,
      ${columns},
      primary key (${primaryKey === null ? "organization_id" : `organization_id, ${primaryKey}`})
    )`);
  await db.raw(`alter table ${name} enable row level security`);
  await db.raw(`
    create policy tenant on ${name}
      using (organization_id = current_setting('parley.organization_id', true))
      with check (organization_id = current_setting('parley.organization_id', true))`);
}
