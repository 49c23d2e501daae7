import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { COMPLETE_EVERY, PARTIAL } from "../history/kept-content";
import type { DocumentValues } from "./document";

/** The stored form of a document by column: a list with the value or, if it is long, its digest. */
type StoredContent = Readonly<Record<string, readonly [unknown] | string>>;

interface Key {
  readonly assistantId: string;
  readonly number: number;
}

/** The versions and their predecessors, back to one that is stored with all values. */
const CONTENTS = statement<Key & { content: StoredContent }>(({ db }) =>
  db.raw(`
  select distinct on (v.assistant_id, v.number) v.assistant_id, v.number, v.content
  from ( -- with an offset: under row-level security an index finds no rows by a remainder
    select *, number - number % ${COMPLETE_EVERY} as first
    from unnest($2::text[], $3::integer[]) as given (assistant_id, number) offset 0
  ) one
  join assistant_versions v on v.organization_id = $1 and v.assistant_id = one.assistant_id
    and v.number between one.first and one.number
  order by v.assistant_id, v.number`),
);

const TEXTS = statement<{ assistantId: string; digest: string; content: string }>(({ db }) =>
  db.raw(`
  select assistant_id, digest, content from version_texts
  where version_texts.organization_id = $1 and assistant_id = any($2::text[]) and digest = any($3::text[])`),
);

/** The values of versions; undefined for a version that is not stored. */
export async function readContents(
  scope: Scope,
  keys: readonly Key[],
): Promise<(DocumentValues | undefined)[]> {
  const ids = keys.map(({ assistantId }) => assistantId);
  const rows = await scope.read(CONTENTS, [ids, keys.map(({ number }) => number)]);
  const contents = keys.map((key) => contentOf(key, rows));
  const digests = contents.flatMap((content) =>
    Object.values(content ?? {}).filter((value) => typeof value === "string"),
  );
  const texts =
    digests.length === 0 ? [] : await scope.read(TEXTS, [[...new Set(ids)], [...new Set(digests)]]);
  const found = new Map(
    texts.map(({ assistantId, digest, content }) => [`${assistantId} ${digest}`, content]),
  );
  return keys.map(({ assistantId }, index) => {
    const content = contents[index];
    return content && valuesIn(content, (digest) => found.get(`${assistantId} ${digest}`)!); // stored with the version
  });
}

/** The content of a version with all values; undefined if it is not among the rows, which are sorted by number. */
function contentOf(
  { assistantId, number }: Key,
  rows: readonly (Key & { content: StoredContent })[],
): StoredContent | undefined {
  const own = rows.filter((row) => row.assistantId === assistantId && row.number <= number);
  if (own.at(-1)?.number !== number) return undefined;
  const complete = own.findLastIndex(({ content }) => !Object.hasOwn(content, PARTIAL));
  const { [PARTIAL]: _, ...content } = Object.assign(
    {},
    ...own.slice(Math.max(complete, 0)).map((row) => row.content),
  ) as StoredContent;
  return content;
}

/** The values of a stored content. */
const valuesIn = (content: StoredContent, textOf: (digest: string) => string): DocumentValues =>
  Object.fromEntries(
    Object.entries(content).map(([name, value]) => [
      name,
      typeof value === "string" ? (JSON.parse(textOf(value)) as unknown) : value[0],
    ]),
  );
