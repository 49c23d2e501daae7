import type { Knex } from "knex";

/** The quoted columns of a table, as SQL lists them. @throws Error for an unknown table */
export type AllColumns = (table: string) => string;

/** Cached by the pool's settings object, which its transactions share. */
const known = new WeakMap<object, AllColumns | Promise<AllColumns>>();

const COLUMNS = `
  select relname as table, string_agg(format('%I.%I', relname, attname), ', ' order by attnum) as columns
  from pg_class join pg_attribute on attrelid = pg_class.oid
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attisdropped
  group by relname`;

/**
 * The columns that the tables had when they were first read. A prepared statement with `*` fails after its table got
 * another column; so prepared statements name these columns, and a server keeps working while a newer one migrates.
 */
export function allColumns(db: Knex): AllColumns | Promise<AllColumns> {
  const { config } = db.client as { config: object };
  const found = known.get(config);
  if (found) return found;
  const read = readColumns(db).then(
    (columns) => (known.set(config, columns), columns),
    (error: unknown) => {
      known.delete(config);
      throw error;
    },
  );
  known.set(config, read);
  return read;
}

async function readColumns(db: Knex): Promise<AllColumns> {
  const { rows } = await db.raw<{ rows: { table: string; columns: string }[] }>(COLUMNS);
  const columns = new Map(rows.map(({ table, columns }) => [table, columns]));
  return (table) => {
    const found = columns.get(table);
    if (found === undefined) throw new Error(`Unknown table ${table}.`);
    return found;
  };
}
