import type { Scope } from "../../platform/database/scope";
import { unprepared } from "../../platform/database/statement";
import type { Period } from "./period";
import { ceiling, floor, quartersWithout, type Span } from "./spans";

/**
 * Quarters of an hour that belong to two days of a time zone. Midnight is at a quarter in every time zone since 1972,
 * except when clocks were put back shortly after it.
 */
const SPLIT_QUARTERS = unprepared<{ at: Date }>(({ db }) =>
  db.raw(
    `select at from (select generate_series($2::timestamptz, $3::timestamptz, interval '15 minutes') as at) quarter
     where $1::text is not null
       and (at at time zone $4)::date <> ((at + interval '14 minutes 59.999999 seconds') at time zone $4)::date`,
  ),
);

/** Divides a period into whole quarters of an hour that each belong to one day, and the rest. */
export async function spansWithinDays(scope: Scope, { from, to, timezone }: Period): Promise<Span[]> {
  const [first, last] = [ceiling(from.getTime(), "quarter"), floor(to.getTime(), "quarter") - 1];
  const split = await scope.read(SPLIT_QUARTERS, [new Date(first), new Date(last), timezone]);
  const starts = split.map(({ at }) => at.getTime());
  return quartersWithout(starts, from.getTime(), to.getTime());
}
