import type { Knex } from "knex";

/**
 * The functions through which the service enqueues jobs no longer notify the workers by the transaction that enqueues:
 * NOTIFY makes the commits of all such transactions wait for each other. Servers notify after the commit; older ones do
 * not, so that their jobs start within a second.
 *
 * graphile-worker's `add_job` has no option for that. It calls `pg_notify` without a schema, and finds the function of
 * the schema that comes first in the search path of its caller.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`create schema parley_quiet`);
  await db.raw(`
    create function parley_quiet.pg_notify(channel text, payload text) returns void language sql as ''`);
  await setPath(db, "parley_quiet, pg_catalog, public");
}

export async function down(db: Knex): Promise<void> {
  await setPath(db, "pg_catalog, public");
  await db.raw(`drop schema parley_quiet cascade`);
}

async function setPath(db: Knex, path: string): Promise<void> {
  for (const signature of [
    "parley_enqueue(text, json, text, timestamptz, text, integer)",
    "parley_begin(text, json, text, integer, text)",
  ])
    await db.raw(`alter function ${signature} set search_path = ${path}`);
}
