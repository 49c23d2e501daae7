import type { Knex } from "knex";
import { isLockFailure, limitLockWaits, type Waiting } from "./lock-waits";
import { createTenantTable } from "../migrations/tenant-table";

/** Table of embeddings, for pgvector. Not a migration: not every database has pgvector, and some get it later. */
const TABLE = "passage_embeddings";

/**
 * Creates the table of embeddings if pgvector is installed or can be installed by this role. Without it, search uses
 * words only.
 */
export async function prepareVectors(db: Knex, waiting: Waiting): Promise<void> {
  await db.transaction(async (trx) => {
    await limitLockWaits(trx, waiting);
    if (await isAvailable(trx)) await tryToInstall(trx);
    if ((await exists(trx, "to_regtype", "vector")) && !(await hasVectors(trx))) await createTable(trx);
  });
}

/** Fails if the role may not install it; then it is either installed already or not available. */
async function tryToInstall(trx: Knex): Promise<void> {
  const install = async (savepoint: Knex) => {
    await savepoint.raw("create extension if not exists vector");
  };
  await trx.transaction(install).catch((error: unknown) => {
    if (isLockFailure(error)) throw error;
  });
}

const createTable = (trx: Knex): Promise<void> =>
  createTenantTable(
    trx,
    TABLE,
    `
    passage_id text collate "C" not null,
    model text not null,
    embedding vector not null,
    foreign key (organization_id, passage_id) references passages (organization_id, id) on delete cascade`,
    "passage_id",
  );

/** Whether the database can store embeddings. */
export const hasVectors = (db: Knex): Promise<boolean> => exists(db, "to_regclass", TABLE);

async function isAvailable(db: Knex): Promise<boolean> {
  const found = (await db("pg_available_extensions").where({ name: "vector" })) as unknown[];
  return found.length > 0;
}

async function exists(db: Knex, lookup: "to_regtype" | "to_regclass", name: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { found: boolean }[] }>(`select ${lookup}(?) is not null as found`, [
    name,
  ]);
  return rows[0]!.found;
}
