import type { Knex } from "knex";

/** Longer than a transaction that adds entries. */
const MARGIN = "interval '10 minutes'";
/** Entries whose positions make a bound. A few with a wrong time, as while a clock is wrong, do not change it. */
const NEIGHBORS = 1_000;

/** Not found by the index of times: all entries between the times would have to be sorted. */
export const CREATED_AT = "created_at + interval '0'";

const SIDES = {
  from: { near: "> ?::timestamptz -", order: "asc", bound: ">=" },
  to: { near: "< ?::timestamptz +", order: "desc", bound: "<=" },
};

/**
 * Leaves out the entries of a ledger that are much older than the start of a period, or much newer than its end. Entries
 * are listed by position. Positions follow the times, except for transactions that take long, so times become bounds of
 * positions.
 * @param near all entries of the ledger with a position
 * @param position column of the position
 */
export function boundByTime(
  side: keyof typeof SIDES,
  rows: Knex.QueryBuilder,
  near: Knex.QueryBuilder,
  position: string,
  time: Date | Knex.Raw,
): void {
  const { near: within, order, bound } = SIDES[side];
  near
    .select(position)
    .whereRaw(`created_at ${within} ${MARGIN}`, [time])
    .orderByRaw(`created_at ${order} limit ${NEIGHBORS}`);
  rows.whereRaw(`${position} ${bound} (select ${position} from (?) near order by 1 ${order} limit 1)`, [
    near,
  ]);
}
