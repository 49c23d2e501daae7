import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

/** How much each organization stores: measured now and then, and raised in between by what servers have written. */
export async function up(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "stored_sizes",
    `bytes bigint not null default 0,
     grown bigint not null default 0,
     walk jsonb,
     measured_at timestamptz`,
    null,
  );
  // Rows of one table by their primary key, some at a time. Sizes of columns are read without their content.
  await db.raw(`
    create function parley_measure(organization text, name text, behind text[], most integer)
    returns table (found bigint, bytes bigint, last text)
    language plpgsql stable set search_path = pg_catalog, public as $$
    declare keys text[]; types text[]; size text; place text;
    begin
      select array_agg(quote_ident(a.attname) order by k.n), array_agg(format_type(a.atttypid, a.atttypmod) order by k.n)
        into keys, types
        from pg_index i, unnest(i.indkey) with ordinality k(num, n), pg_attribute a
        where i.indrelid = format('public.%I', name)::regclass and i.indisprimary
          and a.attrelid = i.indrelid and a.attnum = k.num and a.attname <> 'organization_id';
      select '28 + ' || string_agg(format('coalesce(pg_column_size(%I), 0)', attname), ' + ') into size
        from pg_attribute where attrelid = format('public.%I', name)::regclass and attnum > 0 and not attisdropped;
      if keys is null then
        return query execute format(
          'select count(*), coalesce(sum(%s), 0)::bigint, null::text from public.%I where organization_id = $1', size, name)
          using organization;
        return;
      end if;
      place := case when behind is null then 'true' else format('(%s) > (%s)', array_to_string(keys, ', '),
        (select string_agg(format('%L::%s', b.value, b.kind), ', ') from unnest(behind, types) as b(value, kind))) end;
      return query execute format(
        'select count(*), coalesce(sum(s.size), 0)::bigint, (array_agg(s.key order by s.at desc))[1] from (
           select json_build_array(%s)::text as key, %s as size, row_number() over (order by %s) as at
           from public.%I where organization_id = $1 and %s order by %s limit $2) s',
        (select string_agg(k || '::text', ', ') from unnest(keys) k), size, array_to_string(keys, ', '),
        name, place, array_to_string(keys, ', '))
        using organization, most;
    end $$`);
  // Whoever measures serves all organizations.
  await db.raw(`
    create function parley_unmeasured(large bigint) returns table (organization_id text)
    language sql stable security definer set search_path = pg_catalog, public as $$
      select o.id from public.organizations o left join public.stored_sizes s on s.organization_id = o.id
      where s.measured_at is null or s.walk is not null
        or s.measured_at < now() - case when s.bytes >= large then interval '4 minutes' else interval '55 minutes' end
      order by s.measured_at nulls first
    $$`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_unmeasured(bigint)`);
  await db.raw(`drop function parley_measure(text, text, text[], integer)`);
  await db.raw(`drop table stored_sizes`);
}
