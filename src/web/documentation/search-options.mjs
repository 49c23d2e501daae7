/** Endings that are removed from words, so that "streaming", "streams" and "stream" are found alike. */
const ENDINGS = /(?<=....)(?:ions?|ing|ed|es?|(?<![su])s)$/;
/** Words of questions, which say nothing about the subject. */
const QUESTION_WORDS = new Set(
  "a an and are can do does for get how i in is it me my of on or should the there to we what when where which who why with you".split(
    " ",
  ),
);

/** Splits a text at everything that is no letter or digit, and names such as `allowedOrigins` between their words. */
const tokenize = (text) =>
  text
    .replace(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, " ")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");

const stemOf = (word) => word.toLowerCase().replace(ENDINGS, "");

/** Options of the search index: the build writes it and the page loads it, so both need the same. */
export const SEARCH_OPTIONS = {
  fields: ["title", "heading", "page", "text"],
  storeFields: ["title", "heading", "page", "text", "names"],
  tokenize,
  // The whole word too, because a query may end before an ending.
  processTerm: (word) => [...new Set([word.toLowerCase(), stemOf(word)])],
};

/** Options of one search. Any word is enough; results with more of the words come first. */
export const QUERY_OPTIONS = {
  boost: { title: 4, heading: 2, page: 2 },
  prefix: (word) => word.length > 1,
  fuzzy: (word) => (word.length > 4 ? 0.2 : false),
  combineWith: "OR",
};

/** The words of a query, stemmed, without those of questions unless it has no others. */
export function wordsOf(query) {
  const words = tokenize(query).map((word) => word.toLowerCase());
  const subject = words.filter((word) => !QUESTION_WORDS.has(word));
  return [...new Set((subject.length > 0 ? subject : words).map(stemOf))];
}

/** The form in which names are compared: without case, quotes, arguments and the names of parameters in paths. */
export const nameOf = (text) =>
  text
    .toLowerCase()
    .replace(/[`"'?]/g, "")
    .replace(/\s+/g, " ")
    .replace(/(npm run) --silent/, "$1")
    .replace(/(npm run [\w:-]+).*/, "$1")
    .replace(/\{[^}]*\}|(?<=\/):\w+/g, "{}")
    .replace(/\(.*\)$/, "")
    .trim();
