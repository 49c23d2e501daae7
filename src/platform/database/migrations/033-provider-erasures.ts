import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

/** What providers still keep of erased conversations. What to delete there stands in it sealed; a row goes when it is done. */
export async function up(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "provider_erasures",
    `
    id text collate "C" not null,
    erasure_id text collate "C",
    kind text not null check (kind in ('TEXTS', 'CALL')),
    sealed_target text not null,
    created_at timestamptz not null default now()`,
  );
  await db.raw(
    `create index provider_erasures_open on provider_erasures (organization_id, erasure_id) where erasure_id is not null`,
  );
  await db.raw(
    `alter table erasures add column texts_kept integer not null default 0, add column calls_kept integer not null default 0`,
  );
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`alter table erasures drop column texts_kept, drop column calls_kept`);
  await db.raw(`drop table provider_erasures`);
}
