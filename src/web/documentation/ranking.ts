import type MiniSearch from "minisearch";
import type { SearchResult } from "minisearch";
import { nameOf, QUERY_OPTIONS, wordsOf, type Section } from "./search-options.mjs";

export type Found = SearchResult & Section;

/** Pages that list identifiers, such as error codes: a name is shown in its place there first. */
const REFERENCES = /^\/docs\/(errors|settings|events|rest-routes)#/;
/** Pages that few readers look for, after all others. */
const LAST = /^\/docs\/(changelog|contributing)#/;
/** Words that are identifiers: `DATA_DIR`, `PORT`, `/rest/v1/files`, `session-start`, `startChat`. */
const IDENTIFIER = /^[A-Z][A-Z\d]{2,}$|[\p{L}\d}][_/:.-][\p{L}\d{]|^[/-]|\p{Ll}\p{Lu}/u;
const identifiersOf = (query: string) =>
  [query, ...query.split(/\s+/).filter((word) => IDENTIFIER.test(word))].map(nameOf);

/** Share of the words of a query that a result must have. */
const MIN_SHARE = 0.5;
/** Factor of the score of a part that defines a word of the query. */
const NAMED = 1.5;

const isNamed =
  ({ names }: Found) =>
  (word: string) =>
    names.includes(word);

/** The parts of the documentation for a query, best first: definitions of an identifier, its uses, then by words. */
export function rank(index: MiniSearch<Section>, query: string): Found[] {
  const words = wordsOf(query);
  const identifiers = identifiersOf(query);
  const found = index.search(words.join(" "), {
    ...QUERY_OPTIONS,
    processTerm: (word) => word,
  }) as Found[]; // with the stored fields
  const groupOf = ({ id, names, title, text }: Found) => {
    const isDefined = identifiers.some((name) => names.includes(name));
    if (isDefined) return LAST.test(id) ? 2 : REFERENCES.test(id) ? 0 : 1;
    if (LAST.test(id)) return 5;
    const all = nameOf(`${title} ${text}`);
    return IDENTIFIER.test(query) && identifiers.some((name) => all.includes(name)) ? 3 : 4;
  };
  return found
    .map((result) => {
      const share = result.queryTerms.length / words.length;
      return {
        result,
        group: groupOf(result),
        share,
        score: result.score * share ** 2 * (words.some(isNamed(result)) ? NAMED : 1),
      };
    })
    .filter(({ share, group }) => share >= MIN_SHARE || group < 4)
    .sort((a, b) => a.group - b.group || b.score - a.score)
    .map(({ result }) => result);
}

/** Letters of an excerpt, and those before its first word of the query. */
const EXCERPT = 160;
const BEFORE = 40;

/** The part of a text with the most words of a query. */
export function excerpt(text: string, { terms }: SearchResult, query: string): string {
  const lower = text.toLowerCase();
  const whole = lower.indexOf(query.toLowerCase());
  const places = (whole >= 0 ? [whole] : terms.flatMap((term) => placesOf(lower, term))).sort(
    (a, b) => a - b,
  );
  const best = { from: 0, count: 0 };
  for (const from of places) {
    const part = lower.slice(from, from + EXCERPT - BEFORE);
    const count = terms.filter((term) => part.includes(term)).length;
    if (count > best.count) Object.assign(best, { from, count });
  }
  // At the start of a word.
  const start = best.from < EXCERPT / 2 ? 0 : text.lastIndexOf(" ", best.from - BEFORE) + 1;
  const part = text.slice(start, start + EXCERPT);
  return `${start > 0 ? "…" : ""}${part}${start + part.length < text.length ? "…" : ""}`;
}

/** The places of the words that begin with a term. */
function placesOf(text: string, term: string): number[] {
  const places: number[] = [];
  for (let place = text.indexOf(term); place >= 0; place = text.indexOf(term, place + 1)) places.push(place);
  return places;
}
