import type { Knex } from "knex";

/** Longer than a transaction that adds entries. */
const MARGIN = "interval '10 minutes'";
/** Entries whose positions make a bound. A few with a wrong time, as while a clock is wrong, do not change it. */
const NEIGHBORS = 1_000;

/** Not found by the index of times: all entries between the times would have to be sorted. */
export const CREATED_AT = "created_at + interval '0'";

/*
 * The entries of a ledger are listed by position. Positions follow the times, except for transactions that take long, so
 * times become bounds of positions. `near` are all entries of the ledger with a position.
 */

/** Leaves out entries that are much older than a time. */
export function boundFrom(
  rows: Knex.QueryBuilder,
  near: Knex.QueryBuilder,
  position: string,
  time: Date | Knex.Raw,
): void {
  near
    .whereRaw(`created_at > ?::timestamptz - ${MARGIN}`, [time])
    .orderByRaw(`created_at limit ${NEIGHBORS}`);
  rows.whereRaw(`${position} >= (select ${position} from (?) near order by 1 limit 1)`, [
    near.select(position),
  ]);
}

/** Leaves out entries that are much newer than a time. */
export function boundTo(
  rows: Knex.QueryBuilder,
  near: Knex.QueryBuilder,
  position: string,
  time: Date | Knex.Raw,
): void {
  near
    .whereRaw(`created_at < ?::timestamptz + ${MARGIN}`, [time])
    .orderByRaw(`created_at desc limit ${NEIGHBORS}`);
  rows.whereRaw(`${position} <= (select ${position} from (?) near order by 1 desc limit 1)`, [
    near.select(position),
  ]);
}
