import type { Knex } from "knex";

/** Tables that are read before the organization is known, and the column that names it. */
const BEFORE = {
  organizations: "id",
  key_lookup: "organization_id",
  call_lookup: "organization_id",
} as const;
const TABLES = { ...BEFORE, telephony_lookup: "organization_id" } as const;

/** What can be found without an organization: the owner of a value that the asker already knows, and the default organization. */
const FUNCTIONS = [
  `parley_owner_of_key(lookups text[]) returns table (organization_id text, key_id text)
   language sql stable security definer set search_path = pg_catalog, public as $$
     select k.organization_id, k.key_id from public.key_lookup k where k.lookup = any(lookups) limit 1
   $$`,
  `parley_owner_of_call(lookups text[]) returns table (organization_id text, chat_id text)
   language sql stable security definer set search_path = pg_catalog, public as $$
     select c.organization_id, c.chat_id from public.call_lookup c where c.lookup = any(lookups) limit 1
   $$`,
  `parley_owners_of_numbers(numbers text[]) returns table (phone_number text, organization_id text, connection_id text)
   language sql stable security definer set search_path = pg_catalog, public as $$
     select t.phone_number, t.organization_id, t.connection_id from public.telephony_lookup t
     where t.phone_number = any(numbers)
   $$`,
  `parley_default_organization() returns text
   language sql stable security definer set search_path = pg_catalog, public as $$
     select o.id from public.organizations o where o.is_default
   $$`,
];

/** Row-level security on the tables that had none; it binds only a role that doesn't own them. */
export async function up(db: Knex): Promise<void> {
  for (const definition of FUNCTIONS) await db.raw(`create function ${definition}`);
  for (const [table, column] of Object.entries(TABLES)) {
    await db.raw(`alter table ${table} enable row level security`);
    await db.raw(`
      create policy tenant on ${table}
        using (${column} = current_setting('parley.organization_id', true))
        with check (${column} = current_setting('parley.organization_id', true))`);
  }
}

export async function down(db: Knex): Promise<void> {
  for (const table of Object.keys(TABLES)) {
    await db.raw(`drop policy tenant on ${table}`);
    await db.raw(`alter table ${table} disable row level security`);
  }
  await db.raw(`drop function parley_default_organization()`);
  await db.raw(`drop function parley_owners_of_numbers(text[])`);
  await db.raw(`drop function parley_owner_of_call(text[])`);
  await db.raw(`drop function parley_owner_of_key(text[])`);
}
