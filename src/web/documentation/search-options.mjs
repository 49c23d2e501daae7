/** Options of the search index: the build writes it and the page loads it, so both need the same. */
export const SEARCH_OPTIONS = {
  fields: ["title", "page", "text"],
  storeFields: ["title", "page", "text"],
  searchOptions: { boost: { title: 3, page: 2 }, prefix: true, fuzzy: 0.2, combineWith: "AND" },
};
