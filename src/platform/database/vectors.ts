import type { Knex } from "knex";
import { createTenantTable } from "./migrations/tenant-table";

/** What a passage means, as pgvector keeps it. No migration: not every database has pgvector, and one may get it later. */
const TABLE = "passage_embeddings";

/**
 * Makes the table of vectors where the database has pgvector, or has it to give and lets us take it. Without, all works
 * by words alone.
 */
export async function prepareVectors(db: Knex): Promise<void> {
  // Refused where the role may not do it: then somebody who may has done it before, or there are no vectors.
  if (await offered(db)) await db.raw("create extension if not exists vector").catch(() => undefined);
  if (!(await exists(db, "to_regtype", "vector")) || (await hasVectors(db))) return;
  await createTenantTable(
    db,
    TABLE,
    `
    passage_id text collate "C" not null,
    model text not null,
    embedding vector not null,
    foreign key (organization_id, passage_id) references passages (organization_id, id) on delete cascade`,
    "passage_id",
  );
}

/** Whether the database can keep vectors. */
export const hasVectors = (db: Knex): Promise<boolean> => exists(db, "to_regclass", TABLE);

async function offered(db: Knex): Promise<boolean> {
  const found = (await db("pg_available_extensions").where({ name: "vector" })) as unknown[];
  return found.length > 0;
}

async function exists(db: Knex, lookup: "to_regtype" | "to_regclass", name: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { found: boolean }[] }>(`select ${lookup}(?) is not null as found`, [
    name,
  ]);
  return rows[0]!.found;
}
