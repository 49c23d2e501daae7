export type Order = "asc" | "desc";

/** Makes something for each order: statements of lists, whose text names the order. */
export const inBothOrders = <T>(make: (order: Order) => T): Record<Order, T> => ({
  asc: make("asc"),
  desc: make("desc"),
});

/**
 * Lists sort by creation time, then id: ids come from the clocks of processes, and those of imported records from
 * elsewhere.
 */
export const byAge = (order: Order, createdAt = "createdAt") => [
  { column: createdAt, order },
  { column: "id", order },
];

export const OLDEST_FIRST = byAge("asc");
export const NEWEST_FIRST = byAge("desc");

const UUID_7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7/;

/** About when a record was made, by its id alone: for a cursor whose record was removed. ISO 8601. */
export function timeOf(id: string): string {
  const [, high = "0", low = "0"] = UUID_7.exec(id) ?? [];
  return new Date(parseInt(high + low, 16)).toISOString();
}
