import type { Knex } from "knex";
import type { Pieces, Query } from "../../platform/database/statement";

/** Longer values, as bytes of JSON, are stored once for all versions of their assistant. */
const MAX_INLINE_BYTES = 1_024;
/** Versions whose number is a multiple of this have all values of the document; others may have only changed ones. */
export const COMPLETE_EVERY = 32;
/**
 * An entry of the content of versions that have only the values which their change set. It looks like the digest of a
 * text that is not stored, so that servers of an earlier version fail to read such a version instead of misreading it.
 */
export const PARTIAL = "~";

/** SQL of a value of the document as a type that becomes JSON, by its name. */
type Values = readonly (readonly [name: string, sql: string])[];

/** The parts of a statement that make a version, by their names. */
type VersionQueries = Readonly<Record<string, Query<unknown>>>;

interface VersionParts {
  /** Id of the assistant. */
  readonly id: Knex.Raw;
  /** Who makes the version, as JSON (`Author`). */
  readonly author: Knex.Raw;
}

interface ChangedParts extends VersionParts {
  readonly values: Values;
  /** Whether a value may be longer than `MAX_INLINE_BYTES`. */
  readonly hasLong: boolean;
}

/**
 * Whether a value may have to be stored apart as a long one. The text of an object in the database can be longer than
 * the one that was sent.
 */
export const isLong = (value: unknown): boolean =>
  typeof value === "string"
    ? Buffer.byteLength(JSON.stringify(value)) > MAX_INLINE_BYTES
    : typeof value === "object" && value !== null && !(value instanceof Date);

/** Parts that store a version if one of these values of the part `changed` differs from that of the current version. */
export function versionParts(pieces: Pieces, parts: ChangedParts): VersionQueries {
  const { db } = pieces;
  const { id, values, hasLong } = parts;
  const list = values.map(([name, sql]) => `('${name}', to_jsonb(${sql}))`).join(", ");
  const all = `select one.* from changed cross join lateral (values ${list}) as one (name, value)`;
  const isChanged = values.map(
    ([name]) => `version_heads.content->'${name}' is distinct from given.content->'${name}'`,
  );
  const content = hasLong
    ? `${CONTENT} having count(*) > 0`
    : `select ${contentOf(values)} as content from changed offset 0`;
  return {
    ...(hasLong && { digested: digestedOf(pieces, all) }),
    head: db.raw(`update version_heads
      set number = version_heads.number + 1, content = version_heads.content || given.content from (${content}) as given
      where version_heads.organization_id = $1 and version_heads.assistant_id = ${id.toQuery()}
        and (${isChanged.join(" or ")})
      returning version_heads.number, case when version_heads.number % ${COMPLETE_EVERY} = 0 then version_heads.content
        else given.content || '{"${PARTIAL}": "partial"}' end as content`),
    version: versionOf(pieces, parts),
    ...(hasLong && { texts: textsOf(pieces, id) }),
  };
}

const UPSERT = "on conflict (organization_id, assistant_id) do update set";

/** The content of a version from the part `digested`: a list with each value, or the digest of a long one, by name. */
const CONTENT = `select jsonb_object_agg(name, case when digest is null then jsonb_build_array(text::jsonb) else to_jsonb(digest) end)
    as content from digested`;

/** The parts of a version of a whole document. */
type WholeQueries = Readonly<Record<"digested" | "head" | "version" | "texts", Query<unknown>>>;

interface WholeParts extends VersionParts {
  /** SQL that selects all values of the document: the name of each and the value as jsonb. */
  readonly values: string;
  /** Number of the version. */
  readonly number: Knex.Raw;
}

/**
 * Parts that store a version if the whole document differs from that of the current one, or is the first one; with a number
 * they store it anyway.
 */
export function wholeVersionParts(pieces: Pieces, parts: WholeParts): WholeQueries {
  const { db, home } = pieces;
  const number = `${parts.number.toQuery()}::integer`;
  const head: Query<unknown> =
    db.raw(`insert into version_heads (organization_id, assistant_id, number, content)
    select ${home.id}, ${parts.id.toQuery()}, coalesce(${number}, 1), next.content from (${CONTENT}) next ${home.join}
    where next.content is not null
    ${UPSERT} number = coalesce(${number}, version_heads.number + 1), content = excluded.content
      where version_heads.content <> excluded.content or ${number} is not null
    returning version_heads.number, version_heads.content`);
  return partsAround(head, pieces, parts);
}

/** Parts that store a former version of an assistant, which does not change the current one. */
export function formerVersionParts(pieces: Pieces, parts: WholeParts): WholeQueries {
  const head: Query<unknown> = pieces.db.raw(
    `select ${parts.number.toQuery()}::integer as number, coalesce(next.content, '{}') as content from (${CONTENT}) next`,
  );
  return partsAround(head, pieces, parts);
}

/** Parts that store the version that `head` selects, each after those that it reads. */
function partsAround(head: Query<unknown>, pieces: Pieces, { id, values, author }: WholeParts): WholeQueries {
  return {
    digested: digestedOf(pieces, values),
    head,
    version: versionOf(pieces, { id, author }),
    texts: textsOf(pieces, id),
  };
}

const versionOf = ({ db, home }: Pieces, { id, author }: VersionParts): Query<unknown> =>
  db.raw(`insert into assistant_versions (organization_id, assistant_id, number, content, note, actor, key_id, user_id,
      created_at)
    select ${home.id}, ${id.toQuery()}, head.number, head.content, author->>'note', author->>'actor',
      author->>'keyId', author->>'userId', (author->>'at')::timestamptz
    from head cross join (select ${author.toQuery()}::jsonb) as by (author) ${home.join}`);

/** Selects the name of each value, its JSON text, and the digest of a long one; each text is made and digested once. */
const digestedOf = ({ db }: Pieces, values: string): Query<unknown> =>
  db.raw(`select name, text, case when octet_length(text) > ${MAX_INLINE_BYTES}
      then encode(substr(sha256(convert_to(text, 'UTF8')), 1, 16), 'base64') end as digest
    from (select name, value::text as text from (${values}) as one (name, value) offset 0) as texts`);

/** Stores the long values of the part `digested`. */
const textsOf = ({ db, home }: Pieces, id: Knex.Raw): Query<unknown> =>
  db.raw(`insert into version_texts (organization_id, assistant_id, digest, content)
    select distinct ${home.id}, ${id.toQuery()}, digest, text from digested ${home.join}
    where digest is not null and exists (select from head) on conflict do nothing`);

/** SQL of short values as a content: a list with each value by name. */
const contentOf = (values: Values) =>
  `jsonb_build_object(${values.map(([name, sql]) => `'${name}', jsonb_build_array(${sql})`).join(", ")})`;

/**
 * SQL whether an assistant has versions, or a change is made without.
 * @param isUnversioned whether to change an assistant that has none
 */
export const HAS_VERSION = (id: Knex.Raw, isUnversioned: Knex.Raw): string =>
  `(${isUnversioned.toQuery()}::boolean or exists (select from version_heads
    where version_heads.organization_id = $1 and version_heads.assistant_id = ${id.toQuery()}))`;

/**
 * The values of columns of the part `changed`.
 * @param prefix of their names
 * @param functions SQL of the list of functions as text without secrets
 */
export const valuesOf = (prefix: string, columns: readonly string[], functions = ""): Values =>
  columns.map((column) => [`${prefix}${column}`, column === "functions" ? functions : `changed.${column}`]);

/** Columns of configurations that are no values of a document. */
export const HIDDEN = "'{organization_id,assistant_id,updated_at,functions}'::text[]";
