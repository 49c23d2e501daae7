import type { Knex } from "knex";

/** As in the index `chats_search`. */
const ABOUT = `(coalesce(c.label, c.phone_number, c.first_words, '') || ' ' || coalesce(c.user_name, '') || ' ' || coalesce(c.user_id, '')
  || ' ' || coalesce(c.anonymous_id, '') || ' ' || coalesce(c.external_id, '') || ' ' || coalesce(nullif(c.metadata, '{}')::text, ''))`;

/**
 * Searches for a role under row-level security. PostgreSQL checks the policies before operators that may reveal hidden
 * rows, and `ilike` is such an operator, so that this role cannot use the trigram indexes. The function runs as the owner
 * and looks only at the organization of the session, for a role that may read messages. It builds a statement for each
 * pattern, as the plan depends on it.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create function parley_searched_chats(pattern text, assistant text) returns setof text
    language plpgsql stable security definer set search_path = pg_catalog, public as $$
    declare
      organization text := current_setting('parley.organization_id', true);
      of_assistant text := case when assistant is null then '' else ' and assistant_id = $3' end;
    begin
      if not has_table_privilege(session_user, 'public.messages', 'select') then return; end if;
      return query execute
        'select m.chat_id from public.messages m where m.organization_id = $1 and m.content ilike $2' || of_assistant
        || ' union select c.id from public.chats c where c.organization_id = $1 and ${ABOUT.replaceAll("'", "''")} ilike $2'
        || of_assistant
        using organization, pattern, assistant;
    end $$`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_searched_chats(text, text)`);
}
