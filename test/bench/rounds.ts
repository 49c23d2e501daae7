import { ratio, type Table } from "./table";

export const SIDES = ["ours", "baseline"] as const;
export type Side = (typeof SIDES)[number];
export type Rates = Record<Side, number>;

/**
 * Runs short rounds of both sides in turn, so that other load of the machine affects both equally: each in the reverse
 * order of the previous one. The first round is a warm-up.
 */
export async function interleaved(
  what: string,
  target: number,
  count: number,
  table: Table,
  rateOf: (side: Side) => Promise<number>,
): Promise<void> {
  const rounds: Rates[] = [];
  for (let number = 0; number <= count; number++) {
    const rates: Rates = { ours: 0, baseline: 0 };
    for (const side of number % 2 === 0 ? SIDES : SIDES.toReversed()) rates[side] = await rateOf(side);
    if (number > 0) rounds.push(rates);
  }
  table.add({ what, target, ...ratio(rounds) });
}
