import type { Knex } from "knex";

/** Texts that came in and went out are noted for a while. */
export async function up(db: Knex): Promise<void> {
  // Rows come in the order of their age: a summary of it is enough, and costs a text that comes in nothing.
  for (const table of ["sms_received", "sms_sent"])
    await db.raw(`create index ${table}_age on ${table} using brin (created_at)`);
  await db.raw(`
    create function parley_expire_sms(before timestamptz, most integer) returns integer
    language plpgsql security definer set search_path = pg_catalog, public as $$
    declare received integer; sent integer;
    begin
      delete from public.sms_received r using (
        select organization_id, message_sid from public.sms_received
        where created_at < before limit most for update skip locked
      ) old where r.organization_id = old.organization_id and r.message_sid = old.message_sid;
      get diagnostics received = row_count;
      delete from public.sms_sent s using (
        select organization_id, id from public.sms_sent
        where created_at < before limit most for update skip locked
      ) old where s.organization_id = old.organization_id and s.id = old.id;
      get diagnostics sent = row_count;
      return received + sent;
    end $$`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_expire_sms(timestamptz, integer)`);
  for (const table of ["sms_received", "sms_sent"]) await db.raw(`drop index ${table}_age`);
}
