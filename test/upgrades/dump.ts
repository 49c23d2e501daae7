import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Client } from "pg";

/** An answer of the server that made a dump. */
export interface Told {
  readonly path: string;
  readonly body: unknown;
}

/** The database, the files and the answers of a version. */
export interface Dump {
  /** The newest migration of that version. */
  readonly migration: string;
  /** The commit that ran. */
  readonly commit: string;
  readonly told: readonly Told[];
  /** Values of keys that were created through the interface. */
  readonly keys: readonly string[];
  /** Files of DATA_DIR in base64, by their path. */
  readonly files: Readonly<Record<string, string>>;
  /** Rows of all tables, as statements. */
  readonly sql: string;
}

/** With this setting, servers keep the events of a dump, however old it is. */
export const KEEPING = { EVENT_RETENTION_DAYS: "36500" };

const FOLDER = join(process.cwd(), "test/upgrades/dumps");
const fileOf = (migration: string) => join(FOLDER, `${migration}.json.gz`);

/** Migrations with a dump, in order. */
export const dumped = (): string[] =>
  readdirSync(FOLDER)
    .map((name) => name.replace(".json.gz", ""))
    .sort();

export const readDump = (migration: string): Dump =>
  JSON.parse(gunzipSync(readFileSync(fileOf(migration))).toString("utf8")) as Dump;

export const writeDump = (dump: Dump): void =>
  writeFileSync(fileOf(dump.migration), gzipSync(JSON.stringify(dump), { level: 9 }));

/** Columns of all tables that servers fill. Knex and graphile-worker note their own migrations. */
const TABLES = `
  select format('%I.%I', n.nspname, c.relname) as name,
    string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns,
    string_agg(format('quote_nullable(%I::text)', a.attname), ' || '', '' || ' order by a.attnum) as literals
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  where c.relkind = 'r' and n.nspname in ('public', 'graphile_worker')
    and c.relname not like 'knex_migrations%' and c.relname <> 'migrations'
  group by 1 order by 1`;

const SEQUENCES = `
  select format('%I.%I', schemaname, sequencename) as name, last_value as value
  from pg_sequences where schemaname in ('public', 'graphile_worker') and last_value is not null`;

/** Statements that store all rows of a database in one with the same tables. */
export async function rowsOf(client: Client): Promise<string> {
  // Their text is that of any session.
  await client.query("set timezone = 'UTC'; set datestyle = 'ISO'; set bytea_output = 'hex'");
  const statements: string[] = [];
  const { rows: tables } = await client.query<Record<"name" | "columns" | "literals", string>>(TABLES);
  for (const { name, columns, literals } of tables) {
    // Servers write the same templates at every start: one stands for all.
    const some = name === "public.templates" ? "limit 1" : "";
    const read = `select ${literals} as row from ${name} order by 1 ${some}`;
    const { rows } = await client.query<{ row: string }>(read);
    const values = rows.map(({ row }) => `(${row})`).join(",\n");
    if (rows.length > 0)
      statements.push(`insert into ${name} (${columns}) overriding system value values\n${values};`);
  }
  const { rows: sequences } = await client.query<Record<"name" | "value", string>>(SEQUENCES);
  for (const { name, value } of sequences) statements.push(`select setval('${name}', ${value});`);
  return statements.join("\n");
}

/** Replaces all rows of a database by those of a dump with the same tables. */
export async function load(client: Client, { sql }: Dump): Promise<void> {
  const { rows: tables } = await client.query<{ name: string }>(TABLES);
  await client.query("set timezone = 'UTC'; set session_replication_role = replica");
  await client.query(tables.map(({ name }) => `delete from ${name};`).join("\n"));
  await client.query(sql);
  await client.query("reset session_replication_role");
}
