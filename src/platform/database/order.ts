export type Order = "asc" | "desc";

/** Creates a value per order, for list statements whose text contains the order. */
export const inBothOrders = <T>(make: (order: Order) => T): Record<Order, T> => ({
  asc: make("asc"),
  desc: make("desc"),
});

/**
 * Sort order of lists: creation time, then id. Ids alone do not suffice, because they come from the clocks of
 * processes or, for imported records, from elsewhere.
 */
export const byAge = (order: Order, createdAt = "createdAt") => [
  { column: createdAt, order },
  { column: "id", order },
];

export const OLDEST_FIRST = byAge("asc");
export const NEWEST_FIRST = byAge("desc");

const UUID_7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7/;

/** Approximate creation time of a record, from its id alone: for a cursor whose record was removed. ISO 8601. */
export function timeOf(id: string): string {
  const [, high = "0", low = "0"] = UUID_7.exec(id) ?? [];
  return new Date(parseInt(high + low, 16)).toISOString();
}
