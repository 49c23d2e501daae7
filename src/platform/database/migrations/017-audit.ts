import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

/** Who changed what. Rows are written to the outbox by the transaction of the change; a job numbers and chains them. */
export async function up(db: Knex): Promise<void> {
  // Times in whole milliseconds, as JavaScript reads them: the hash of a row covers its time.
  await createTenantTable(
    db,
    "audit_outbox",
    `id text collate "C" not null,
     entry jsonb not null,
     created_at timestamptz not null default date_trunc('milliseconds', now())`,
  );
  await createTenantTable(
    db,
    "audit_events",
    `position bigint not null,
     id text collate "C" not null,
     kind text not null,
     actor text not null,
     key_id text,
     person text,
     address text,
     interface text not null,
     request_id text,
     operation text not null,
     record_type text not null,
     record_id text,
     fields jsonb not null,
     created_at timestamptz not null,
     previous_hash text not null,
     hash text not null`,
    "position",
  );
  await db.raw(`create index on audit_events (organization_id, record_id, position)`);
  await db.raw(`create index on audit_events (organization_id, created_at)`);
  await createTenantTable(
    db,
    "audit_heads",
    `position bigint not null,
     hash text not null`,
    null,
  );
  // The job serves all organizations, and the role of the service sees one at a time.
  await db.raw(`
    create function parley_audit_waiting() returns table (organization_id text)
    language sql security definer set search_path = pg_catalog, public as $$
      select distinct o.organization_id from public.audit_outbox o limit 1000
    $$`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_audit_waiting()`);
  for (const table of ["audit_heads", "audit_events", "audit_outbox"]) await db.raw(`drop table ${table}`);
}
