/** Number of values from a bound (inclusive) to the next one (exclusive). The last bucket has no upper bound. */
export interface Bucket {
  readonly from: number;
  readonly to: number | null;
  readonly count: number;
}

/** In milliseconds. Stored facts depend on these: change them only in a migration that recomputes all facts. */
export const ANSWER_BOUNDS = [
  250, 500, 1_000, 2_000, 3_000, 5_000, 8_000, 13_000, 20_000, 30_000, 60_000, 120_000,
];
export const MESSAGE_BOUNDS = [1, 3, 5, 9, 17, 33, 65];
/** In seconds. */
export const LENGTH_BOUNDS = [15, 30, 60, 120, 300, 600, 1_800, 3_600];

/** @param counts by index of PostgreSQL's width_bucket: 0 is below the first bound */
export const bucketsOf = (bounds: readonly number[], counts: readonly number[]): Bucket[] =>
  [0, ...bounds].map((from, index) => ({ from, to: bounds[index] ?? null, count: counts[index] ?? 0 }));

/** Adds lists of counts element by element. */
export const addUp = (lists: readonly (readonly number[])[]): number[] =>
  lists.reduce<number[]>((sums, list) => list.map((count, index) => count + (sums[index] ?? 0)), []);

/**
 * A percentile, interpolated within its bucket; in the open bucket its lower bound.
 * @param share from 0 to 1
 * @returns undefined without values
 */
export function percentile(buckets: readonly Bucket[], share: number): number | undefined {
  const target = share * buckets.reduce((sum, { count }) => sum + count, 0);
  let below = 0;
  for (const { from, to, count } of buckets) {
    if (count > 0 && below + count >= target)
      return to === null ? from : from + ((to - from) * (target - below)) / count;
    below += count;
  }
  return undefined;
}
