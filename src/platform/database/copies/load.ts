import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { openClient } from "../connections/open-client";
import { COPY_OPTIONS, copyTarget, JOB_COLUMNS, NOT_COPIED, type Shape, type TableShape } from "./snapshot";

/** The source of a load: rows of tables, and jobs. */
export interface Source {
  readonly shape: Shape;
  read(table: TableShape): Readable;
  readJobs(): Readable;
}

/** Tables that exist only in some databases; their content can be recomputed. */
const OPTIONAL = ["passage_embeddings"];

/**
 * Fills the empty tables of a database at the source's migration, in one transaction.
 * @returns optional tables that the database lacks
 */
export async function load(url: string, source: Source): Promise<string[]> {
  const client = await openClient(url, "parley restore", COPY_OPTIONS);
  try {
    await client.query("begin");
    // Backups of earlier versions contain some of these.
    const tables = source.shape.tables.filter(({ name }) => !NOT_COPIED.includes(name));
    const { order, left } = await loadingOrder(client, tables);
    for (const table of order) {
      await client.query(`delete from public.${pg.escapeIdentifier(table.name)}`); // rows inserted by migrations
    }
    for (const table of [...order].reverse())
      await pipeline(source.read(table), client.query(copyFrom(`copy ${copyTarget(table)} from stdin`)));
    await loadJobs(client, source.readJobs());
    await setSequences(client, source.shape.sequences);
    await analyze(client, order); // until autovacuum does, the first requests to a large copy would take seconds
    await client.query("commit");
    return left;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Tables in the order of deletion: referencing tables before referenced ones. */
async function loadingOrder(
  client: pg.Client,
  tables: readonly TableShape[],
): Promise<{ order: TableShape[]; left: string[] }> {
  const known = await client.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
  );
  const there = new Set(known.rows.map(({ name }) => name));
  const missing = tables.map(({ name }) => name).filter((name) => !there.has(name));
  const unknown = missing.filter((name) => !OPTIONAL.includes(name));
  if (unknown.length > 0)
    throw new Error(`The backup contains tables that this version does not create: ${unknown.join(", ")}.`);
  const { rows: keys } = await client.query<{ child: string; parent: string }>(
    `select child.relname as child, parent.relname as parent from pg_constraint k
     join pg_class child on child.oid = k.conrelid join pg_class parent on parent.oid = k.confrelid
     where k.contype = 'f' and child.oid <> parent.oid`,
  );
  const order: TableShape[] = [];
  let rest = tables.filter(({ name }) => there.has(name));
  while (rest.length > 0) {
    const names = new Set(rest.map(({ name }) => name));
    const isParent = new Set(keys.filter(({ child }) => names.has(child)).map(({ parent }) => parent));
    const leaves = rest.filter(({ name }) => !isParent.has(name));
    if (leaves.length === 0)
      throw new Error(`Tables refer to each other in a cycle: ${[...names].join(", ")}.`);
    order.push(...leaves);
    rest = rest.filter((table) => !leaves.includes(table));
  }
  return { order, left: missing };
}

/** Enqueues the jobs in their order; ids and locks belong to the other database. */
async function loadJobs(client: pg.Client, jobs: Readable): Promise<void> {
  await client.query(
    `create temporary table waiting (place bigint generated always as identity, ${JOB_COLUMNS}) on commit drop`,
  );
  const columns = JOB_COLUMNS.replace(/ \w+(?=,|$)/g, "");
  await pipeline(jobs, client.query(copyFrom(`copy waiting (${columns}) from stdin`)));
  await client.query(
    `create temporary table made on commit drop as
     select (graphile_worker.add_job(identifier, payload, queue_name => queue_name, run_at => run_at,
       max_attempts => max_attempts, job_key => key, priority => priority)).id, attempts
     from (select * from waiting order by place) waiting`,
  );
  await client.query(
    `select from made, lateral graphile_worker.reschedule_jobs(array[id], attempts => made.attempts)`,
  );
}

const analyze = (client: pg.Client, tables: readonly TableShape[]) =>
  client.query(`analyze ${tables.map(({ name }) => `public.${pg.escapeIdentifier(name)}`).join(", ")}`);

async function setSequences(client: pg.Client, sequences: Shape["sequences"]): Promise<void> {
  for (const [name, value] of Object.entries(sequences))
    await client.query("select setval(to_regclass($1), $2::bigint) where to_regclass($1) is not null", [
      `public.${pg.escapeIdentifier(name)}`,
      value,
    ]);
}
