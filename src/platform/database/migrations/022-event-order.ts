import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

/**
 * The order of events comes from counters, neither from ids, which servers make by their clocks, nor from transaction
 * ids, which begin anew in another cluster.
 *
 * - Within a chat a counter in the chat's row numbers the events. Rows of older servers have 0 and come first, by id.
 * - In the ledger of an organization, committed events get their positions from a sequencer. The column keeps the name
 *   `transaction`, under which older servers read it: rows of theirs from before have the id of their transaction there,
 *   which is less than any position that is given from now on, so that no row has to be written anew. Whatever is
 *   inserted now, also by an older server, has none until the sequencer finds it.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table chats
      add column event_count integer not null default 0,
      add column status_places jsonb not null default '{}'`);
  await db.raw(`alter table events add column chat_sequence integer not null default 0`);
  await db.raw(`alter table deliveries add column chat_sequence integer not null default 0`);
  await db.raw(`alter table events alter column transaction drop not null`);
  await db.raw(`alter table events alter column transaction drop default`);
  // The last position that was given; the one row that sequencers of several servers change by turns.
  await createTenantTable(db, "ledger_heads", "position bigint not null", null);
  await db.raw(`
    create index deliveries_in_chat on deliveries (organization_id, destination_id, chat_id, chat_sequence, event_id)
    where status = 'PENDING'`);
  await db.raw(`drop index deliveries_of_chat`);
  // Organizations are not known here: which have events that nobody asked for yet.
  await db.raw(`
    create function parley_unplaced_events() returns table (organization_id text)
    language sql security definer set search_path = pg_catalog, public as $$
      select o.id from public.organizations o where exists (
        select 1 from public.events e where e.organization_id = o.id and e.transaction is null)
    $$`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_unplaced_events()`);
  await db.raw(`
    create index deliveries_of_chat on deliveries (organization_id, destination_id, chat_id, event_id)
    where status = 'PENDING'`);
  await db.raw(`drop index deliveries_in_chat`);
  await db.raw(`drop table ledger_heads`);
  await db.raw(`update events set transaction = pg_current_xact_id() where transaction is null`);
  await db.raw(`alter table events alter column transaction set default pg_current_xact_id()`);
  await db.raw(`alter table events alter column transaction set not null`);
  await db.raw(`alter table deliveries drop column chat_sequence`);
  await db.raw(`alter table events drop column chat_sequence`);
  await db.raw(`alter table chats drop column event_count, drop column status_places`);
}
