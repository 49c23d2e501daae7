import type { Knex } from "knex";

/** Tables that do not grow with use, so that a migration may read and change their rows. */
const SMALL = ["organizations", "templates", "holds", "online_steps", "file_store", "knex_migrations"];

interface Column {
  readonly place: string;
  readonly type: string;
  readonly required: boolean;
}

/** The parts of a schema that rules look at. */
interface Schema {
  /** File by table: another one means that all rows were written again. */
  readonly tables: ReadonlyMap<string, string>;
  readonly columns: ReadonlyMap<string, Column>;
  readonly triggers: readonly string[];
  /** Foreign keys that set columns to null or their default. */
  readonly setters: readonly string[];
}

const PUBLIC = "connamespace = 'public'::regnamespace";

async function schemaOf(db: Knex): Promise<Schema> {
  const ask = async <T>(text: string) => (await db.raw<{ rows: T[] }>(text)).rows;
  const tables = await ask<{ name: string; file: string }>(
    `select relname as name, pg_relation_filenode(oid)::text as file from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  const columns = await ask<Column>(
    `select c.relname || '.' || attname as place, format_type(atttypid, atttypmod) as type,
       attnotnull and not atthasdef as required
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and attnum > 0 and not attisdropped`,
  );
  const triggers = await ask<{ name: string }>(
    `select tgrelid::regclass || '.' || tgname as name from pg_trigger where not tgisinternal`,
  );
  const setters = await ask<{ name: string }>(
    `select conrelid::regclass || '.' || conname as name from pg_constraint
     where ${PUBLIC} and contype = 'f' and (confdeltype in ('n', 'd') or confupdtype in ('n', 'd'))`,
  );
  return {
    tables: new Map(tables.map(({ name, file }) => [name, file])),
    columns: new Map(columns.map((column) => [column.place, column])),
    triggers: triggers.map(({ name }) => name),
    setters: setters.map(({ name }) => name),
  };
}

/** Counts of reads of tables by this session, also by DDL, and of their changed rows; PostgreSQL resets the counts at times. */
const TOUCHED = `
  select relname as name, (seq_scan + coalesce(idx_scan, 0))::integer as read,
    (n_tup_ins + n_tup_upd + n_tup_del)::integer as changed
  from pg_stat_xact_user_tables where schemaname = 'public'`;

interface Touched {
  readonly name: string;
  readonly read: number;
  readonly changed: number;
}

/** Commas outside parentheses and quotes. */
function hasTopLevelComma(text: string): boolean {
  const plain = text.replace(/'[^']*'|"[^"]*"/g, "");
  let depth = 0;
  for (const character of plain) {
    if (character === "(") depth++;
    if (character === ")") depth--;
    if (character === "," && depth === 0) return true;
  }
  return false;
}

/**
 * Runs the change of a migration in a transaction.
 * @returns what breaks the rules for changes beside servers of an older version, on tables of any size
 */
export async function breachesOf(
  trx: Knex.Transaction,
  up: (db: Knex) => Promise<unknown>,
): Promise<string[]> {
  const before = await schemaOf(trx);
  const earlier = await touched(trx);
  const statements: string[] = [];
  const hear = ({ sql }: { sql: string }) => void statements.push(sql);
  trx.on("query", hear);
  await up(trx);
  trx.removeListener("query", hear);
  const now = await touched(trx);
  const after = await schemaOf(trx);
  const touchedNow = now.filter(({ name }) => before.tables.has(name) && !SMALL.includes(name));
  const earlierOf = (one: Touched) => earlier.find(({ name }) => name === one.name);
  return [
    ...touchedNow.filter((one) => one.read > (earlierOf(one)?.read ?? 0)).map(({ name }) => `reads ${name}`),
    ...touchedNow
      .filter((one) => one.changed > (earlierOf(one)?.changed ?? 0))
      .map(({ name }) => `changes rows of ${name}`),
    ...changedTables(before, after),
    ...changedColumns(before, after),
    ...after.triggers
      .filter((name) => !before.triggers.includes(name))
      .map((name) => `creates the trigger ${name}`),
    ...after.setters
      .filter((name) => !before.setters.includes(name))
      .map((name) => `sets columns by the key ${name}`),
    ...statements
      .filter((text) => /^\s*alter\s+table\b/i.test(text) && hasTopLevelComma(text))
      .map((text) => `has several subcommands: ${text.trim()}`),
  ];
}

const touched = async (db: Knex): Promise<Touched[]> => (await db.raw<{ rows: Touched[] }>(TOUCHED)).rows;

const changedTables = (before: Schema, after: Schema): string[] =>
  [...before.tables].flatMap(([name, file]) => {
    const now = after.tables.get(name);
    if (now === undefined) return [`removes ${name}`];
    return now === file ? [] : [`rewrites ${name}`];
  });

function changedColumns(before: Schema, after: Schema): string[] {
  const isOld = (place: string) =>
    after.tables.has(place.split(".")[0]!) && before.tables.has(place.split(".")[0]!);
  const old = [...before.columns.values()].filter(({ place }) => isOld(place));
  const lost = old.flatMap(({ place, type, required }) => {
    const now = after.columns.get(place);
    if (now === undefined) return [`removes ${place}`];
    if (now.type !== type) return [`changes the type of ${place}`];
    return now.required && !required ? [`requires ${place}, which older servers may not set`] : [];
  });
  const needed = [...after.columns.values()]
    .filter(({ place, required }) => required && isOld(place) && !before.columns.has(place))
    .map(({ place }) => `requires ${place}, which older servers do not set`);
  return [...lost, ...needed];
}
