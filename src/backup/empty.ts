import type { Knex } from "knex";
import { unmigrate } from "../platform/database/upgrades/migrate";
import { currentHold } from "../platform/database/connections/holds";
import type { Storage } from "../platform/ports/storage";

/** Tables that belong to no extension. */
const TABLES = `
  select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('public', 'graphile_worker') and c.relkind in ('r', 'p', 'v', 'm', 'f')
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  order by 1 limit 4`;

/** Clears the remains of an interrupted restore. @throws Error if the database contains anything else */
export async function emptyDatabase(db: Knex): Promise<void> {
  if (await refuseFilled(db)) await clear(db);
}

/**
 * @returns whether the database contains the remains of an interrupted restore
 * @throws Error if it contains anything else
 */
export async function refuseFilled(db: Knex): Promise<boolean> {
  const tables = await namesOf(db);
  if (tables.length > 0 && !(await isUnfinished(db)))
    throw new Error(
      `The database is not empty: it contains ${tables.slice(0, 3).join(", ")}${tables.length > 3 ? " …" : ""}. Name an empty one. Nothing was changed.`,
    );
  return tables.length > 0;
}

/** Removes everything that a restore creates, at once: the hold, which names remains, must not go before they do. */
export async function clear(db: Knex): Promise<void> {
  await db.transaction(async (trx) => {
    // In a Citus cluster, functions are dropped on all nodes. Others ignore the setting.
    await trx.raw("set local citus.multi_shard_modify_mode = 'sequential'");
    await trx.raw("drop schema if exists graphile_worker cascade");
    // Before the migrations are rolled back, because it was created before them.
    await trx.raw("drop table if exists passage_embeddings");
    await unmigrate(trx);
    await trx.raw("drop table if exists holds");
  });
}

async function isUnfinished(db: Knex): Promise<boolean> {
  if (!(await db.schema.hasTable("holds"))) return false;
  const hold = await currentHold(db);
  return hold?.reason === "RESTORED" && hold.finishedAt === null;
}

async function namesOf(db: Knex): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(TABLES.replaceAll("?", "\\?"));
  return rows.map(({ name }) => name);
}

/** @throws Error if the storage is a folder that is not empty */
export async function refuseStored(storage: Storage, location: string, isFolder: boolean): Promise<void> {
  if (!isFolder) return; // a bucket may be shared, and equal keys have equal content
  for await (const { key } of storage.list())
    throw new Error(`${location} is not empty: it contains ${key}. Name an empty one. Nothing was changed.`);
}
