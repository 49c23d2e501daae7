import { currentTime } from "../../clock";

export type Order = "asc" | "desc";

export const opposite = (order: Order): Order => (order === "asc" ? "desc" : "asc");

/** Creates a value per order, for list statements whose text contains the order. */
export const inBothOrders = <T>(make: (order: Order) => T): Record<Order, T> => ({
  asc: make("asc"),
  desc: make("desc"),
});

/** The operators by which the places between two cursors compare to them, in a list that is read in some order. */
export const BOUNDS = inBothOrders((order) =>
  order === "asc" ? ({ after: ">", before: "<" } as const) : ({ after: "<", before: ">" } as const),
);

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

const UUID_7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Approximate creation time of a record, from its id alone: for a cursor whose record was removed. ISO 8601. */
export const timeOf = (id: string): string => new Date(millisecondsOf(id)).toISOString();

/** No record is older. */
const EARLIEST = Date.UTC(2024, 0);
/** Clocks of servers may be ahead. */
const SKEW_MS = 86_400_000;

/** Whether an id contains a credible time of creation, so that it may be the id of a removed record. */
export function hasTime(id: string): boolean {
  const time = millisecondsOf(id);
  return time >= EARLIEST && time <= currentTime() + SKEW_MS;
}

function millisecondsOf(id: string): number {
  const [, high = "0", low = "0"] = UUID_7.exec(id) ?? [];
  return parseInt(high + low, 16);
}
