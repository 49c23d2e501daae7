import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

/** An organization's own choice of server, model and key for an identifier of the catalog. */
export async function up(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "model_mappings",
    `
    id text collate "C" not null,
    model text not null,
    name text not null,
    provider text,
    base_url text,
    sealed_key text,
    updated_at timestamptz not null default now(),
    unique (organization_id, model)`,
  );
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop table model_mappings`);
}
