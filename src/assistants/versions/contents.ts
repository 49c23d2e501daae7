import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import type { DocumentValues } from "./document";

/** The stored form of a document: a list with a value, or the digest of a long one, by column. */
type StoredContent = Readonly<Record<string, readonly [unknown] | string>>;

interface Key {
  readonly assistantId: string;
  readonly number: number;
}

const CONTENTS = statement<Key & { content: StoredContent }>(({ db }) =>
  db.raw(`
  select assistant_id, number, content from assistant_versions
  where assistant_versions.organization_id = $1 and (assistant_id, number) in (
    select one.assistant_id, one.number from unnest($2::text[], $3::integer[]) as one (assistant_id, number))`),
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
  const digests = rows.flatMap(({ content }) =>
    Object.values(content).filter((value) => typeof value === "string"),
  );
  const texts =
    digests.length === 0 ? [] : await scope.read(TEXTS, [[...new Set(ids)], [...new Set(digests)]]);
  const found = new Map(
    texts.map(({ assistantId, digest, content }) => [`${assistantId} ${digest}`, content]),
  );
  return keys.map(({ assistantId, number }) => {
    const row = rows.find((one) => one.assistantId === assistantId && one.number === number);
    return row && valuesIn(row.content, (digest) => found.get(`${assistantId} ${digest}`)!); // stored with the version
  });
}

/** The values of a stored content. */
const valuesIn = (content: StoredContent, textOf: (digest: string) => string): DocumentValues =>
  Object.fromEntries(
    Object.entries(content).map(([name, value]) => [
      name,
      typeof value === "string" ? (JSON.parse(textOf(value)) as unknown) : value[0],
    ]),
  );
