/**
 * Lists sort by creation time, then id: ids come from the clocks of processes, and those of imported records from
 * elsewhere.
 */
export const byAge = (order: "asc" | "desc", createdAt = "createdAt") => [
  { column: createdAt, order },
  { column: "id", order },
];

export const OLDEST_FIRST = byAge("asc");
export const NEWEST_FIRST = byAge("desc");
