import type { Knex } from "knex";
import { BATCHES } from "./distributed-batches";
import { isDistributed } from "./is-distributed";

/** An index that is built while servers use its table. */
interface IndexStep {
  readonly kind: "index";
  readonly name: string;
  readonly table: string;
  /** Method and columns, as in `create index … on table …`. */
  readonly columns: string;
  readonly unique?: boolean;
}

/** A change of many rows, made by small transactions while servers use the table. */
interface BackfillStep {
  readonly kind: "backfill";
  readonly name: string;
  readonly table: string;
  /** Name of a switch of the same migration that must be made before. */
  readonly after?: string;
  /**
   * Changes the next rows, in a transaction of at most 5 s per statement that also stores the progress.
   * @param cursor the result of the batch before, as JSON stores it; null for the first
   * @returns the place to continue at; null if no rows are left
   */
  readonly batch: (db: Knex, cursor: unknown) => Promise<unknown>;
}

/** A change of what servers store, which is made when no server of an older version is connected any more. */
export interface SwitchStep {
  readonly kind: "switch";
  readonly name: string;
  /** Servers without this mark (see server-marks.ts) are of an older version. */
  readonly mark: string;
}

/** A part of a migration that cannot be made at once. Reads must work before, during and after it. */
export type OnlineStep = IndexStep | BackfillStep | SwitchStep;

export interface Migration extends Knex.Migration {
  readonly online?: readonly OnlineStep[];
}

/** Tables up to this size are changed by the migration itself. */
const SMALL_TABLE_BYTES = 1_048_576;

const IS_VALID = `
  select from pg_index join pg_class on pg_class.oid = indexrelid
  where relnamespace = 'public'::regnamespace and relname = ? and indisvalid`;

/** The catalog tells about indexes, so that a restored database without them gets them. */
export async function isDone(db: Knex, { kind, name }: OnlineStep): Promise<boolean> {
  if (kind !== "index") return isRecorded(db, name);
  const { rows } = await db.raw<{ rows: unknown[] }>(IS_VALID, [name]);
  return rows.length > 0;
}

/** Whether a switch or a back-fill is done. */
export async function isRecorded(db: Knex, name: string): Promise<boolean> {
  const done = "select from online_steps where name = ? and done_at is not null";
  const { rows } = await db.raw<{ rows: unknown[] }>(done, [name]);
  return rows.length > 0;
}

/** Applies the migration, with its online steps on small tables: a new database has them from the beginning. */
export const withSmallSteps = ({ online = [], ...migration }: Migration): Knex.Migration => ({
  ...migration,
  up: async (db: Knex) => {
    await migration.up(db);
    for (const step of online) if (await canRunAtOnce(db, step)) await runAtOnce(db, step);
  },
});

/** A server of an older version may run on any database that has organizations. */
async function canRunAtOnce(db: Knex, step: OnlineStep): Promise<boolean> {
  if (step.kind === "switch") return !(await db("organizations").first());
  if (step.kind === "backfill" && step.after !== undefined && !(await isRecorded(db, step.after)))
    return false;
  return isSmall(db, step.table);
}

async function isSmall(db: Knex, table: string): Promise<boolean> {
  const size = "select pg_table_size(?::regclass) <= ? as small";
  const { rows } = await db.raw<{ rows: { small: boolean }[] }>(size, [table, SMALL_TABLE_BYTES]);
  return rows[0]!.small;
}

/** The kind of an index, as in `create unique index`. */
export const indexOf = ({ unique = false }: IndexStep): string => (unique ? "unique index" : "index");

async function runAtOnce(db: Knex, step: OnlineStep): Promise<void> {
  if (step.kind === "switch")
    return void (await db.raw("insert into online_steps (name, done_at) values (?, now())", [step.name]));
  if (step.kind === "index")
    return void (await db.raw(
      `create ${indexOf(step)} if not exists ${step.name} on ${step.table} ${step.columns}`,
    ));
  while (await runBatch(db, step));
}

/** Runs the next batch in an open transaction. @returns whether more rows may be left */
export async function runBatch(db: Knex, { name, batch }: BackfillStep): Promise<boolean> {
  await db.raw("insert into online_steps (name) values (?) on conflict (name) do nothing", [name]);
  const progress = "select cursor from online_steps where name = ? and done_at is null for update";
  const { rows } = await db.raw<{ rows: { cursor: unknown }[] }>(progress, [name]);
  if (!rows[0]) return false;
  const run = (await isDistributed(db)) ? (BATCHES[name] ?? batch) : batch;
  const next = (await run(db, rows[0].cursor)) ?? null;
  if (next === null)
    await db.raw("update online_steps set cursor = null, done_at = now() where name = ?", [name]);
  else await db.raw("update online_steps set cursor = ?::jsonb where name = ?", [JSON.stringify(next), name]);
  return next !== null;
}
