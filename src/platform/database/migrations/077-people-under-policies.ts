import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";

/** As in the index `audit_of_digests`. */
const ABOUT = `jsonb_path_exists(fields, '$[*].digest') and jsonb_path_query_array(fields, '$[*].digest') \\?| $2`;

/**
 * Finds entries of the audit log about a person for a role under row-level security: PostgreSQL checks the policies before
 * operators that may reveal hidden rows, and those of the index of digests may. The function runs as the owner and looks
 * only at the organization of the session, for a role that may read the audit log. It plans each statement anew, as the
 * plan depends on the digests.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create function parley_audited_about(digests text[], most bigint) returns setof bigint
    language plpgsql stable security definer set search_path = pg_catalog, public as $$
    begin
      if not has_table_privilege(session_user, 'public.audit_events', 'select') then return; end if;
      return query execute 'select position from public.audit_events where organization_id = $1 and ${ABOUT.replaceAll("'", "''")} limit $3'
        using current_setting('parley.organization_id', true), digests, most;
    end $$`);
}

/** Columns of chats with identifiers of people. */
const COLUMNS: Readonly<Record<string, string>> = {
  chats_of_user: "user_id",
  chats_of_external: "external_id",
  chats_of_anonymous: "anonymous_id",
};

/**
 * Finds the chats of one person for such a role too: `left`, which the indexes so far contain, may reveal hidden rows, and
 * `=` on the column does not. Indexes are built while servers run. Longer identifiers, of which an index would not hold
 * the whole, are left to the indexes so far, which older servers use too.
 */
export const online: readonly OnlineStep[] = Object.entries(COLUMNS).map(([name, column]) => ({
  kind: "index",
  name,
  table: "chats",
  columns: `(organization_id, ${column}, id) where length(${column}) <= 255`,
}));

export async function down(db: Knex): Promise<void> {
  await db.raw("drop function parley_audited_about(text[], bigint)");
  await db.raw(`drop index if exists ${online.map(({ name }) => name).join(", ")}`);
}
