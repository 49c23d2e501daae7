/** The selection of every page envelope's `meta`. */
export const PAGE_META = "{ page take itemCount pageCount hasPreviousPage hasNextPage }";
