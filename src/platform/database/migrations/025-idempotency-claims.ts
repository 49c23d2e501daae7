import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

/** Keys of requests in flight whose work waits for HTTP, so that no transaction is open meanwhile. */
export async function up(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "idempotency_claims",
    `key text collate "C" not null,
     claim text collate "C" not null,
     request_hash text not null,
     claimed_at timestamptz not null default now()`,
    "key",
  );
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop table idempotency_claims`);
}
