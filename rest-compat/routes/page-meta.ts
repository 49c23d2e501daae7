/** Selection of `meta` in every page. */
export const PAGE_META = "{ page take itemCount pageCount hasPreviousPage hasNextPage }";
