import { LRUCache } from "lru-cache";
import type { Scope } from "../../platform/database/scope";
import { unprepared } from "../../platform/database/statement";
import {
  detectLanguage,
  LANGUAGES,
  type DetectedLanguage,
  type Language,
} from "../../platform/language/detect-language";
import { configurationOf, indexedWords, questionWords } from "../../platform/language/search-words";
import { splitHeading } from "./headings";
import { searchedFiles } from "./searched-files";

/** Best matches by rank, which are then sorted by the share of the question's words that they contain. */
const MAX_COMPARED = 48;
/** In characters. Shorter passages count as written in the language of the whole text, unless another fits far better. */
const MIN_DETECTABLE_LENGTH = 80;
/** In characters. Words of shorter passages, such as "Upgrades", can look like any language. */
const MIN_DISTINCT_LENGTH = 24;
/** Difference of scores. Of 2,600 short passages in English, none fitted another language by as much. */
const MIN_DIFFERENCE = 0.2;

/** How well a passage fits a question. */
export interface MatchScore {
  /** Share of the question's words that the passage contains: above 0, at most 1. */
  readonly coverage: number;
  /** Share of the question's words that its heading contains. */
  readonly inHeading: number;
  readonly rank: number;
}

interface FoundText extends MatchScore {
  readonly text: string;
}

interface FoundInFile extends FoundText {
  readonly source: string;
  readonly fileId: string;
  readonly page: number | null;
}

/** Words of a passage for PostgreSQL. */
interface IndexedPassage {
  readonly language: Language;
  readonly configuration: string;
  readonly heading: string;
  readonly words: string;
}

const languages = new LRUCache<string, DetectedLanguage>({ max: 5_000 });
const NONE: DetectedLanguage = { language: "en", isReliable: false, scoreOf: () => 0 };

async function languageOf(text: string): Promise<DetectedLanguage> {
  const known = languages.get(text);
  if (known) return known;
  const found = (await detectLanguage(text)) ?? NONE;
  languages.set(text, found);
  return found;
}

/** The language of a passage. @param whole language of the whole text */
async function languageOfPassage(passage: string, whole: Language): Promise<Language> {
  if (passage.length < MIN_DISTINCT_LENGTH) return whole;
  const { language, isReliable, scoreOf } = await languageOf(passage);
  const isDistinct =
    passage.length >= MIN_DETECTABLE_LENGTH || scoreOf(language) - scoreOf(whole) >= MIN_DIFFERENCE;
  return isReliable && isDistinct ? language : whole;
}

/** Characters of a text by which the language of its short passages is detected. */
const SAMPLE_LENGTH = 2_000;

/** Prepares passages of one text for the search, each in its language. */
export async function indexPassages(passages: readonly string[]): Promise<IndexedPassage[]> {
  const whole = await languageOf(passages.join("\n").slice(0, SAMPLE_LENGTH));
  return Promise.all(
    passages.map(async (passage) => {
      const language = await languageOfPassage(passage, whole.language);
      const { heading = "", text } = splitHeading(passage);
      return {
        language,
        configuration: configurationOf(language),
        heading: indexedWords(heading, language),
        words: indexedWords(text, language),
      };
    }),
  );
}

/** Best first: words in a heading count twice. */
export const byScore = (a: MatchScore, b: MatchScore): number =>
  b.coverage + b.inHeading - a.coverage - a.inHeading || b.rank - a.rank;

/** Passages with words of the question, best first. The question is looked up in the language of each passage. */
export async function searchTexts(
  scope: Scope,
  question: string,
  passages: readonly string[],
  limit: number,
): Promise<FoundText[]> {
  if (passages.length === 0 || question.trim() === "") return [];
  const prepared = await indexPassages(passages);
  const rows = await scope.read(IN_TEXTS, [
    prepared.map(({ language }) => language),
    ...queriesOf(question),
    prepared.map(({ heading }) => heading),
    prepared.map(({ words }) => words),
    limit,
  ]);
  return rows.map(({ place, ...found }) => ({ ...found, text: passages[place - 1]! })); // places begin at 1
}

/**
 * Like `searchTexts`, in the files of an assistant.
 * @param files `fileIds` are searched instead of those that the assistant has now
 */
export const searchFiles = (
  scope: Scope,
  question: string,
  {
    assistantId,
    fileIds,
  }: { readonly assistantId: string; readonly fileIds?: readonly string[] | undefined },
  limit: number,
): Promise<FoundInFile[]> => scope.read(IN_FILES, [assistantId, ...queriesOf(question), limit, fileIds]);

/** Whether a question has words to look up, whatever its language: in its own, all of them may be stop words. */
export async function hasWords(scope: Scope, question: string): Promise<boolean> {
  const [, configurations, words] = queriesOf(question);
  const [row] = await scope.read(HAS_WORDS, [configurations, words]);
  return row!.found; // an aggregate has one row
}

/** Parameters of QUERIES: languages, their configurations, and the words of a question in each. */
const queriesOf = (question: string): readonly (readonly string[])[] => [
  LANGUAGES,
  LANGUAGES.map(configurationOf),
  LANGUAGES.map((language) => questionWords(question, language)),
];

/** The query matches any word, not all: a question has words that its answer lacks. */
const QUERIES = `
  queries as materialized (
    select language, configuration,
      cast(replace(cast(plainto_tsquery(configuration::regconfig, words) as text), '&', '|') as tsquery) as query,
      tsvector_to_array(to_tsvector(configuration::regconfig, words)) as lexemes
    from unnest($3::text[], $4::text[], $5::text[]) as given (language, configuration, words))`;

const HAS_WORDS = unprepared<{ found: boolean }>(({ db }) =>
  db.raw(`
  select $1::text is not null and bool_and(numnode(plainto_tsquery(configuration::regconfig, words)) > 0) as found
  from unnest($2::text[], $3::text[]) as given (configuration, words)`),
);

const COVERAGE = `
  cardinality(array(select unnest(lexemes) intersect select unnest(tsvector_to_array(terms))))::float8
    / cardinality(lexemes) as coverage,
  cardinality(array(select unnest(lexemes) intersect select unnest(tsvector_to_array(ts_filter(terms, '{a}')))))::float8
    / cardinality(lexemes) as in_heading`;

const IN_TEXTS = unprepared<MatchScore & { place: number }>(({ db }) =>
  db.raw(`
  with ${QUERIES},
  texts as (
    select place::integer, query, lexemes,
      setweight(to_tsvector(configuration::regconfig, given.heading), 'A')
        || to_tsvector(configuration::regconfig, given.words) as terms
    from queries
    join unnest($2::text[], $6::text[], $7::text[]) with ordinality as given (written_in, heading, words, place)
      on given.written_in = queries.language),
  found as (
    select place, lexemes, terms, ts_rank(terms, query)::float8 as rank from texts
    where $1::text is not null and terms @@ query order by rank desc, place limit ${MAX_COMPARED})
  select * from (select place, rank, ${COVERAGE} from found) as compared
  order by coverage + in_heading desc, rank desc, place limit $8`),
);

const IN_FILES = unprepared<FoundInFile>(({ db }) =>
  db.raw(`
  with ${QUERIES},
  found as (
    select passages.content, files.name, files.id, passages.page, passages.ordinal, lexemes,
      coalesce(passages.terms, passages.words) as terms,
      ts_rank(coalesce(passages.terms, passages.words), query)::float8 as rank
    from queries
    join files on files.organization_id = $1 and files.id = any(${searchedFiles("$7")})
    join passages on passages.organization_id = $1 and passages.file_id = files.id
      and coalesce(passages.language, 'en') = queries.language
    where coalesce(passages.terms, passages.words) @@ query
    order by rank desc limit ${MAX_COMPARED})
  select * from (
    select content as text, name as source, id as file_id, page, ordinal, rank, ${COVERAGE} from found) as compared
  order by coverage + in_heading desc, rank desc, file_id, ordinal limit $6`),
);
