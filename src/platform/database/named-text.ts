import type { Knex } from "knex";
import type { AllColumns } from "./all-columns";
import { ofAssistants } from "./assistant-rows";
import type { TenantTable } from "./tables";

type Table = (name: TenantTable) => Knex.QueryBuilder;
/** A place in a named statement: `$(1)` is the first of its values. */
type Place = (position: number) => Knex.Raw;
export type Build = (table: Table, $: Place, db: Knex, all: AllColumns) => Knex.QueryBuilder | Knex.Raw;

/** The text of a named statement, as it is built once and kept. */
export interface Text {
  readonly sql: string;
  /** Whether the ids of assistants fill its last place. */
  readonly isLimited: boolean;
}

interface Wanted {
  readonly key: string | undefined;
  readonly build: Build;
  readonly tail: string;
}

interface Unbuilt extends Pick<Wanted, "build" | "tail"> {
  readonly db: Knex;
  readonly all: AllColumns;
  readonly values: number;
  readonly isLimited: boolean;
}

const texts = new Map<string, Text>();

/**
 * The name and the text of a statement.
 * @param all the columns that stand where a statement selects everything
 * @param values how many values fill its places, the organization not counted
 * @param isLimited whether only rows of some assistants are found
 */
export function namedText(
  db: Knex,
  all: AllColumns,
  { key, build, tail }: Wanted,
  values: number,
  isLimited: boolean,
): { readonly name: string | undefined; readonly text: Text } {
  const name = isLimited && key !== undefined ? `${key} of assistants` : key;
  const text = (name !== undefined && texts.get(name)) || textOf({ db, all, build, tail, values, isLimited });
  if (name !== undefined) texts.set(name, text);
  return { name, text };
}

/** The ids of assistants come last, so that the places of a statement are the same with and without them. */
function textOf({ db, all, build, tail, values, isLimited }: Unbuilt): Text {
  const first = db.raw("$1");
  const last = `$${values + 2}::text[]`;
  const table: Table = (name) => {
    const rows = db(name).queryContext({ all }).where(`${name}.organizationId`, first);
    return isLimited ? ofAssistants(rows, name, db.raw(last)) : rows;
  };
  const place: Place = (position) => db.raw(`$${position + 1}`);
  const sql = build(table, place, db, all).toSQL().toNative().sql + tail;
  return { sql, isLimited: isLimited && sql.includes(last) };
}
