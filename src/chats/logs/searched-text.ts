/** The searchable text of a chat apart from its messages, with blanks between the fields. Must equal the expression of the index. */
export const INDEXED_TEXT = `(coalesce(label, phone_number, first_words, '') || ' ' || coalesce(user_name, '') || ' ' || coalesce(user_id, '')
  || ' ' || coalesce(anonymous_id, '') || ' ' || coalesce(external_id, '') || ' ' || coalesce(nullif(metadata, '{}')::text, ''))`;

/** Columns of the searchable text: those of lists, and those that lists lack. */
export const LABEL = ["label", "phoneNumber", "firstWords"] as const;
export const SEARCHED = ["userName", "userId", "anonymousId", "externalId", "metadata"] as const;

/** Characters that JSON escapes. */
const ESCAPED = /["\\\u0001-\u001f]/u;

/** The parts of a text that are the same in JSON, by which the index finds it. */
export const partsInJson = (text: string): string[] => text.split(ESCAPED);

/** A pattern, in SQL, that also matches JSON with the text of a pattern: anything may stand for a character that JSON escapes. */
export const patternInJson = (pattern: string): string =>
  String.raw`regexp_replace(${pattern}, '\\\\|["\u0001-\u001f]', '%', 'g')`; // patterns have two backslashes for one

/**
 * Whether a field of a chat contains the text of a pattern, in SQL: of metadata, a key or a value, at any depth.
 * @param inJson `patternInJson` of the pattern: few metadata that it does not match are parsed
 */
export const isAbout = (pattern: string, inJson = patternInJson(pattern)): string => `(
  ${["coalesce(label, phone_number, first_words)", "user_name", "user_id", "anonymous_id", "external_id"]
    .map((field) => `${field} ilike ${pattern}`)
    .join(" or ")}
  or (metadata <> '{}' and metadata::text ilike ${inJson} and exists (
    select from jsonb_path_query(metadata, 'strict $.**') as part (value) where case jsonb_typeof(value)
      when 'object' then exists (select from jsonb_object_keys(value) as name where name ilike ${pattern})
      when 'array' then false else value #>> '{}' ilike ${pattern} end)))`;
