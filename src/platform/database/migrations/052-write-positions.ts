import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

/**
 * How far the log of the primary had come, in bytes, when each organization last wrote, for reads from a replica. It stays empty
 * without one. The rows are small and change with each write, so most changes need no new index entry.
 */
export async function up(db: Knex): Promise<void> {
  await createTenantTable(db, "write_positions", "position bigint not null", null);
  await db.raw(
    `alter table write_positions set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500)`,
  );
  await db.raw(NOTE);
}

// Servers of all organizations share a statement. The position is lost if PostgreSQL crashes within its next moments,
// which then serves as before the write to readers of a replica that lags.
const NOTE = `
  create function parley_note_writes(ids text[]) returns void
  language plpgsql security definer set search_path = pg_catalog, public as $$
  begin
    perform set_config('synchronous_commit', 'off', true);
    insert into public.write_positions (organization_id, position)
    select o.id, pg_current_wal_insert_lsn() - '0/0' from public.organizations o where o.id = any(ids) order by o.id
    on conflict (organization_id) do update set position = greatest(write_positions.position, excluded.position);
  end
  $$`;

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_note_writes(text[])`);
  await db.raw(`drop table write_positions`);
}
