import type { Knex } from "knex";
import { SPOKEN_KINDS } from "./function-secrets";
import type { Pieces, Query } from "../../platform/database/statement";

/** Longer values, as bytes of JSON, are stored once for all versions of their assistant. */
const MAX_INLINE_BYTES = 1_024;

/** The parts of a statement that make a version, by their names. */
type VersionQueries = Readonly<Record<"given" | "head" | "version" | "texts", Query<unknown>>>;

/** A former version, which does not change the current one. */
export interface FormerVersion {
  /** Id of the assistant. */
  readonly id: Knex.Raw;
  /** SQL as in `VersionParts`. */
  readonly values: string;
  readonly author: Knex.Raw;
  readonly number: Knex.Raw;
}

interface VersionParts {
  /** Id of the assistant. */
  readonly id: Knex.Raw;
  /** SQL that selects the changed values of the document: the name of each and the value as jsonb. */
  readonly values: string;
  /** Who makes the version, as JSON (`Author`). */
  readonly author: Knex.Raw;
  /** Whether `values` are the whole document: then an assistant without versions gets its first one. */
  readonly isWhole?: boolean;
  /** Number of the version, which is stored even if nothing differs; null: the next one. */
  readonly number?: Knex.Raw;
}

const UPSERT = "on conflict (organization_id, assistant_id) do update set";

/** The content of a version from the part `given`. */
const CONTENT = `select jsonb_object_agg(name, case when digest is null then jsonb_build_array(value) else to_jsonb(digest) end)
    as content from given`;

/** Parts that store a version if the values differ from those of the current one. Run them with the change itself. */
export function versionParts(
  pieces: Pieces,
  { id, values, author, isWhole = false, number }: VersionParts,
): VersionQueries {
  const { db, home } = pieces;
  const change: Query<unknown> = db.raw(`update version_heads
    set number = version_heads.number + 1, content = version_heads.content || next.content from (${CONTENT}) next
    where version_heads.organization_id = $1 and version_heads.assistant_id = ${id.toQuery()}
      and version_heads.content || next.content <> version_heads.content
    returning version_heads.number, version_heads.content`);
  const place = `${number?.toQuery() ?? "null"}::integer`;
  const first: Query<unknown> =
    db.raw(`insert into version_heads (organization_id, assistant_id, number, content)
    select ${home.id}, ${id.toQuery()}, coalesce(${place}, 1), next.content from (${CONTENT}) next ${home.join} where next.content is not null
    ${UPSERT} number = coalesce(${place}, version_heads.number + 1), content = excluded.content
      where version_heads.content <> excluded.content or ${place} is not null
    returning version_heads.number, version_heads.content`);
  return partsAround(isWhole ? first : change, pieces, { id, values, author });
}

/** Parts that store a former version of an assistant. */
export function formerVersionParts(
  pieces: Pieces,
  { id, values, author, number }: FormerVersion,
): VersionQueries {
  const head: Query<unknown> = pieces.db.raw(
    `select ${number.toQuery()}::integer as number, coalesce(next.content, '{}') as content from (${CONTENT}) next`,
  );
  return partsAround(head, pieces, { id, values, author });
}

/** Parts that store the version that `head` selects, each after those that it reads. */
function partsAround(
  head: Query<unknown>,
  { db, home }: Pieces,
  { id, values, author }: VersionParts,
): VersionQueries {
  return {
    given: db.raw(`select name, value, case when octet_length(value::text) > ${MAX_INLINE_BYTES}
        then encode(substr(sha256(convert_to(value::text, 'UTF8')), 1, 16), 'base64') end as digest
      from (${values}) as one (name, value)`),
    head,
    version:
      db.raw(`insert into assistant_versions (organization_id, assistant_id, number, content, note, actor, key_id,
        user_id, created_at)
      select ${home.id}, ${id.toQuery()}, head.number, head.content, author->>'note', author->>'actor', author->>'keyId',
        author->>'userId', (author->>'at')::timestamptz
      from head cross join (select ${author.toQuery()}::jsonb) as by (author) ${home.join}`),
    texts: db.raw(`insert into version_texts (organization_id, assistant_id, digest, content)
      select distinct ${home.id}, ${id.toQuery()}, digest, value::text from given ${home.join}
      where digest is not null and exists (select from head) on conflict do nothing`),
  };
}

/** SQL whether an assistant has versions. */
export const HAS_VERSION = (id: Knex.Raw): string =>
  `exists (select from version_heads where version_heads.organization_id = $1
    and version_heads.assistant_id = ${id.toQuery()}) as has_version`;

/**
 * SQL that selects the values of columns of the changed row.
 * @param prefix of their names
 * @param instead expressions for values that a version has in another form, by column
 */
export const valuesOf = (
  prefix: string,
  columns: readonly string[],
  instead: Readonly<Record<string, string>> = {},
): string => {
  const pairs = columns.map(
    (column) => `('${prefix}${column}', to_jsonb(${instead[column] ?? `changed.${column}`}))`,
  );
  return `select one.name, one.value from changed cross join lateral (values ${pairs.join(", ")}) as one (name, value)`;
};

/** Columns of configurations that are no values of a document. */
export const HIDDEN = "'{organization_id,assistant_id,updated_at,functions}'::text[]";

/** Parts that store the first version of an assistant, whose rows are inserted by the parts `changed`, `voice_row` … */
export function firstVersionParts(pieces: Pieces, id: Knex.Raw, author: Knex.Raw): VersionQueries {
  const configurations = ["voice", "sms", "chat", "theme"].map(
    (kind) => `select '${kind}.' || one.key, one.value
      from ${kind}_row cross join lateral jsonb_each(to_jsonb(${kind}_row) - ${HIDDEN}) as one (key, value)`,
  );
  const functions = SPOKEN_KINDS.map(
    (kind) => `select '${kind}.functions', to_jsonb(functions::text) from ${kind}_row`,
  );
  const values = [
    valuesOf("", ["name", "description", "variables"]),
    ...configurations,
    ...functions,
    "select 'fileIds', '[]'::jsonb from changed",
  ];
  return versionParts(pieces, { id, values: values.join(" union all "), author, isWhole: true });
}
