import type { Knex } from "knex";

/** As in the index `chats_search`. */
const INDEXED = `(coalesce(c.label, c.phone_number, c.first_words, '') || ' ' || coalesce(c.user_name, '') || ' ' || coalesce(c.user_id, '')
  || ' ' || coalesce(c.anonymous_id, '') || ' ' || coalesce(c.external_id, '') || ' ' || coalesce(nullif(c.metadata, '{}')::text, ''))`;

/** Whether a field contains the text: the index has all fields as one text, and metadata as JSON. */
const IS_ABOUT = `(
  ${[
    "coalesce(c.label, c.phone_number, c.first_words)",
    "c.user_name",
    "c.user_id",
    "c.anonymous_id",
    "c.external_id",
  ]
    .map((field) => `${field} ilike $2`)
    .join(" or ")}
  or (c.metadata <> '{}' and c.metadata::text ilike $3 and exists (
    select from jsonb_path_query(c.metadata, 'strict $.**') as part (value) where case jsonb_typeof(value)
      when 'object' then exists (select from jsonb_object_keys(value) as name where name ilike $2)
      when 'array' then false else value #>> '{}' ilike $2 end)))`;

/** Matches JSON, too: anything may stand for a character that JSON escapes. */
const IN_JSON = String.raw`regexp_replace(pattern, '\\\\|["\u0001-\u001f]', '%', 'g')`;

const functionWith = (chats: string, values: string) => `
  create or replace function parley_searched_chats(pattern text, assistant text) returns setof text
  language plpgsql stable security definer set search_path = pg_catalog, public as $$
  declare
    organization text := current_setting('parley.organization_id', true);
    of_assistant text := case when assistant is null then '' else ' and assistant_id = $4' end;
  begin
    if not has_table_privilege(session_user, 'public.messages', 'select') then return; end if;
    return query execute
      'select m.chat_id from public.messages m where m.organization_id = $1 and m.content ilike $2' || of_assistant
      || ' union select c.id from public.chats c where c.organization_id = $1 and ${chats.replaceAll("'", "''")}' || of_assistant
      using ${values};
  end $$`;

/** Lets a search under row-level security find only chats of which a single field contains the text. */
export async function up(db: Knex): Promise<void> {
  await db.raw(
    functionWith(`${INDEXED} ilike $3 and ${IS_ABOUT}`, `organization, pattern, ${IN_JSON}, assistant`),
  );
}

export async function down(db: Knex): Promise<void> {
  await db.raw(functionWith(`${INDEXED} ilike $2`, "organization, pattern, null::text, assistant"));
}
