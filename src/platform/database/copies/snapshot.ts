import type { Readable } from "node:stream";
import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { HOMES } from "../home";
import { openClient } from "../connections/open-client";
import { announceBackup } from "./backup-lock";
import { JOB_TABLE, JOBS_TO_COPY } from "../private-job-tables/jobs-to-copy";

/** The copied columns of a table, without generated ones. */
export interface TableShape {
  readonly name: string;
  readonly columns: readonly string[];
}

/** Description of a database without its rows. */
export interface Shape {
  /** Names of the applied migrations. */
  readonly migrations: readonly string[];
  readonly tables: readonly TableShape[];
  /** Last values of sequences, by their names. */
  readonly sequences: Readonly<Record<string, string>>;
  /** Time of the snapshot, by the database's clock. */
  readonly at: string;
}

/** A consistent view of a database at one moment, whatever is written in the meantime. */
export interface Snapshot {
  readonly shape: Shape;
  /** Rows of a table in the text format of COPY. Read one table at a time. */
  read(table: TableShape): Readable;
  /** Waiting and running jobs, as rows of `JOB_COLUMNS`. */
  readJobs(): Readable;
  rows<R extends pg.QueryResultRow>(text: string): Promise<R[]>;
  /** @throws Error if the announcement of the backup has ended: servers may have deleted files of the snapshot since. */
  check(): Promise<unknown>;
  close(): Promise<void>;
}

/** The copied columns of a waiting job. Ids and locks are specific to a database. */
export const JOB_COLUMNS =
  "identifier text, payload json, queue_name text, run_at timestamptz, attempts integer, max_attempts integer, key text, priority integer";

/**
 * Tables that are specific to this database and its servers, or to Citus, and started jobs, which are copied as waiting
 * jobs.
 */
export const NOT_COPIED: readonly string[] = [
  "knex_migrations",
  "knex_migrations_lock",
  "worker_heartbeats",
  "holds",
  "begun_jobs",
  "job_deaths",
  HOMES,
];

/** Excludes unlogged tables, which contain nothing that must survive a crash. */
const TABLES = `
  select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relpersistence = 'p'
    and c.relname <> all($1)
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  group by c.relname order by c.relname`;

const BEGUN = `select task, payload, null, begun_at, 0, 6, null, 0 from public.begun_jobs`;

const quoteAll = (names: readonly string[]): string =>
  names.map((name) => pg.escapeIdentifier(name)).join(", ");

/** A table with its columns, for COPY in either direction. */
export const copyTarget = ({ name, columns }: TableShape): string =>
  `public.${pg.escapeIdentifier(name)} (${quoteAll(columns)})`;

/**
 * Opens a snapshot: one connection announces the backup and exports the snapshot, the other reads in it.
 * @param url database URL of the tables' owner, who sees the rows of all organizations
 */
export async function openSnapshot(url: string): Promise<Snapshot> {
  const [holder, reader] = [await open(url), await open(url)];
  try {
    await announceBackup(holder);
    const begin = "begin isolation level repeatable read read only";
    await holder.query(begin);
    const exported = await holder.query<{ id: string }>("select pg_export_snapshot() as id");
    await reader.query(begin);
    await reader.query(`set transaction snapshot ${pg.escapeLiteral(exported.rows[0]!.id)}`);
    const shape = await shapeOf(reader);
    const exists = async (name: string) =>
      (await reader.query("select 1 where to_regclass($1) is not null", [name])).rowCount === 1;
    const jobs = [
      ...((await exists(JOB_TABLE)) ? [JOBS_TO_COPY] : []),
      ...((await exists("public.begun_jobs")) ? [BEGUN] : []),
    ].join(" union all ");
    return {
      shape,
      read: (table) => reader.query(copyTo(`copy ${copyTarget(table)} to stdout`)),
      readJobs: () => reader.query(copyTo(`copy (${jobs || "select where false"}) to stdout`)),
      rows: async <R extends pg.QueryResultRow>(text: string) => (await reader.query<R>(text)).rows,
      check: () => holder.query("select 1"),
      close: () => close(holder, reader),
    };
  } catch (error) {
    await close(holder, reader);
    throw error;
  }
}

async function shapeOf(reader: pg.Client): Promise<Shape> {
  const tables = await reader.query<TableShape>(TABLES, [NOT_COPIED]);
  const migrations = await reader.query<{ name: string }>(
    "select name from public.knex_migrations order by id",
  );
  // Sequences are not part of snapshots. Read after the snapshot was taken, they are not behind any of its rows.
  const sequences = await reader.query<{ name: string; value: string }>(
    "select sequencename as name, last_value::text as value from pg_sequences where schemaname = 'public' and last_value is not null",
  );
  const [clock] = (await reader.query<{ at: Date }>("select now() as at")).rows;
  return {
    migrations: migrations.rows.map(({ name }) => name),
    tables: tables.rows,
    sequences: Object.fromEntries(sequences.rows.map(({ name, value }) => [name, value])),
    at: clock!.at.toISOString(),
  };
}

/** The session of a copy. Timeouts of the role or database are disabled, because large tables take long. */
export const COPY_OPTIONS = "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c timezone=UTC";

const open = (url: string): Promise<pg.Client> => openClient(url, "parley backup", COPY_OPTIONS);

const close = async (...clients: pg.Client[]): Promise<void> => {
  for (const client of clients) await client.end().catch(() => undefined);
};
