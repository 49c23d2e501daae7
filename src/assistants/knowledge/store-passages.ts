import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import { unprepared } from "../../platform/database/statement";
import type { DocumentPassage } from "../../platform/ports/document-reader";
import { indexPassages } from "./word-search";

/** Passages per statement: few, because detecting their languages blocks the process. */
const BATCH_SIZE = 100;

const STORE = unprepared<object>(({ db }) =>
  db.raw(`
  insert into passages (organization_id, file_id, id, ordinal, content, page, language, terms)
  select $1, $2, id, ordinal, content, page, language,
    setweight(to_tsvector(configuration::regconfig, heading), 'A') || to_tsvector(configuration::regconfig, words)
  from unnest($3::text[], $4::integer[], $5::text[], $6::integer[], $7::text[], $8::text[], $9::text[], $10::text[])
    as given (id, ordinal, content, page, language, configuration, heading, words)
  returning 1`),
);

/** Stores the passages of a file, with search terms for the language of each. */
export async function storePassages(
  scope: Scope,
  fileId: string,
  passages: readonly DocumentPassage[],
): Promise<void> {
  for (let at = 0; at < passages.length; at += BATCH_SIZE) {
    const batch = passages.slice(at, at + BATCH_SIZE);
    const words = await indexPassages(batch.map(({ text }) => text));
    await scope.write(STORE, [
      fileId,
      batch.map(() => newId()),
      batch.map((_, index) => at + index),
      batch.map(({ text }) => text),
      batch.map(({ page }) => page ?? null),
      words.map(({ language }) => language),
      words.map(({ configuration }) => configuration),
      words.map(({ heading }) => heading),
      words.map(({ words }) => words),
    ]);
  }
}
