/** Runs a statement on the system catalog. */
type Query = (text: string) => Promise<readonly Column[]>;

export interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly hasDefault: boolean;
  /** Check constraints on this column only, as SQL. */
  readonly checks: string;
}

/** Tables of Knex and of Citus clusters, and the vectors, which exist only in databases with pgvector and are declared in rows.ts. */
const EXCLUDED_TABLES = [
  "knex_migrations",
  "knex_migrations_lock",
  "passage_embeddings",
  "distributed_organizations",
];

const COLUMNS = `
  select c.relname as "table", a.attname as "column", format_type(a.atttypid, null) as type,
    not a.attnotnull as "isNullable", a.atthasdef or a.attidentity <> '' as "hasDefault",
    coalesce((select string_agg(pg_get_constraintdef(k.oid), ' ') from pg_constraint k
      where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]), '') as checks
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v')
    and c.relname <> all('{${EXCLUDED_TABLES.join(",")}}')
    and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e') -- of an extension
  order by c.relname collate "C", a.attnum`;

/** JavaScript types of PostgreSQL's types, as pg reads them. Numbers beyond JavaScript's range are strings. */
const TYPES: Readonly<Record<string, string>> = {
  text: "string",
  "character varying": "string",
  tsvector: "string",
  bigint: "string",
  numeric: "string",
  xid8: "string",
  integer: "number",
  smallint: "number",
  "double precision": "number",
  real: "number",
  boolean: "boolean",
  date: "Date",
  "timestamp with time zone": "Date",
  bytea: "Buffer",
  json: "unknown",
  jsonb: "unknown",
};

const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The TypeScript type of a value that is not null. @throws Error for a type that is not listed in TYPES */
function typeOf({ table, column, type, checks }: Column): string {
  const [, member] = /^(.*)\[\]$/.exec(type) ?? [];
  const [, allowed] = /= ANY \(ARRAY\[([^\]]*)\]/.exec(checks) ?? [];
  if (allowed !== undefined && type === "text")
    return [...allowed.matchAll(/'([^']*)'::text/g)].map(([, value]) => JSON.stringify(value)).join(" | ");
  const found = TYPES[member ?? type];
  if (found === undefined) throw new Error(`No TypeScript type for ${type} of ${table}.${column}.`);
  return member === undefined ? found : `${found}[]`;
}

const wrapperOf = ({ isNullable, hasDefault }: Column) =>
  isNullable ? "NullableColumn" : hasDefault ? "ColumnWithDefault" : "Column";

/** Generates tables.generated.ts: every table and view of a migrated database with its columns. */
export async function describeTables(query: Query): Promise<string> {
  const columns = await query(COLUMNS);
  const tables = [...new Set(columns.map(({ table }) => table))].map((table) => {
    const own = columns.filter((column) => column.table === table);
    const lines = own.map(
      (column) => `    ${camel(column.column)}: ${wrapperOf(column)}<${typeOf(column)}>;\n`,
    );
    const names = own.map(({ column }) => `"${camel(column)}"`);
    return { type: `  ${table}: {\n${lines.join("")}  };\n`, names: `  ${table}: [${names.join(", ")}],\n` };
  });
  return `// Generated from the migrated database by \`npm run rows\`. A test compares it with the database.
import type { Column, ColumnWithDefault, NullableColumn } from "./column";

/** Columns of every table and view, as JavaScript reads their values. */
export interface Tables {
${tables.map(({ type }) => type).join("")}}

/** Names of the columns of every table and view. */
export const COLUMNS: { readonly [T in keyof Tables]: readonly (keyof Tables[T])[] } = {
${tables.map(({ names }) => names).join("")}};
`;
}
