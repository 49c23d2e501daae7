import type { Rows } from "../tables/rows";
import type { Scope } from "../scope";
import type { TenantTable } from "../tables/tables";

type TableWithIds = { [T in TenantTable]: "id" extends keyof Rows[T] ? T : never }[TenantTable];

/** The row with an id; undefined if there is none. Reads in the same tick share one statement. */
export function rowById<T extends TableWithIds>(
  scope: Scope,
  table: T,
  id: string,
): Promise<Rows[T] | undefined> {
  const loader = scope.loader<Rows[T] | undefined>(`${table} by id`, async (ids) => {
    const rows = await scope.table(table).whereRaw("id = any(?::text[])", [[...ids]]);
    const found = new Map((rows as Rows[T][]).map((row) => [row.id as string, row])); // all columns of the table
    return ids.map((one) => found.get(one));
  });
  return loader.load(id);
}
