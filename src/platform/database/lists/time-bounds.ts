import type { Knex } from "knex";

/** Longer than a transaction that adds entries. */
const MARGIN = "interval '10 minutes'";
/** Entries whose positions make a bound. A few with a wrong time, as while a clock is wrong, do not change it. */
const NEIGHBORS = 1_000;

/** Not found by the index of times: all entries between the times would have to be sorted. */
export const CREATED_AT = "created_at + interval '0'";

/**
 * The end is compared by the operator by which a cursor is: PostgreSQL 18 would begin to read an index at a bound with `<=`, even
 * if the one of a cursor precedes it, and pass all entries up to the cursor.
 */
const SIDES = {
  from: {
    near: "> ?::timestamptz -",
    order: "asc",
    bound: ">=",
    value: (position: Position) => position.name,
  },
  to: { near: "< ?::timestamptz +", order: "desc", bound: "<", value: (position: Position) => position.next },
};

/** The column of a position. */
interface Position {
  readonly name: string;
  /** The position after it, in SQL. */
  readonly next: string;
}

/**
 * Leaves out the entries of a ledger that are much older than the start of a period, or much newer than its end. Entries
 * are listed by position. Positions follow the times, except for transactions that take long, so times become bounds of
 * positions.
 * @param near all entries of the ledger with a position
 */
export function boundByTime(
  side: keyof typeof SIDES,
  rows: Knex.QueryBuilder,
  near: Knex.QueryBuilder,
  position: Position,
  time: Date | Knex.Raw,
): void {
  const { near: within, order, bound, value } = SIDES[side];
  const { name } = position;
  near
    .select(name)
    .whereRaw(`created_at ${within} ${MARGIN}`, [time])
    .orderByRaw(`created_at ${order} limit ${NEIGHBORS}`);
  rows.whereRaw(
    `${name} ${bound} (select ${value(position)} from (?) near order by ${name} ${order} limit 1)`,
    [near],
  );
}
