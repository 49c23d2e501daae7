import type { Knex } from "knex";
import type { Scope } from "./scope";
import type { TenantTable } from "./tables/tables";

/**
 * Deletes the rows whose keys a query selects. An array of them, so that PostgreSQL finds the rows by the index of the
 * key, however many it expects.
 * @returns the number of rows
 */
export async function deleteFound(
  scope: Scope,
  table: TenantTable,
  key: string,
  found: Knex.QueryBuilder,
): Promise<number> {
  const rows: Knex.QueryBuilder = scope.table(table);
  return await rows.whereRaw("?? = any(array(?))", [key, found]).delete();
}
