import type { Knex } from "knex";

/**
 * Notes of texts are deleted organization by organization, so that the audit log of each one records it. An answer that
 * is kept for an Idempotency-Key names the secrets in it, so that its repetition is recorded as a disclosure.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create function parley_expired_texts(before timestamptz) returns table (organization_id text)
    language sql stable security definer set search_path = pg_catalog, public as $$
      select r.organization_id from public.sms_received r where r.created_at < before
      union
      select s.organization_id from public.sms_sent s where s.created_at < before
    $$`);
  await db.raw(`alter table idempotency_keys add column disclosed jsonb`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`alter table idempotency_keys drop column disclosed`);
  await db.raw(`drop function parley_expired_texts(timestamptz)`);
}
