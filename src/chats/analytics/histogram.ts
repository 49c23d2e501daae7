/** How many values lie from one bound (included) to the next; the last bucket is open. */
export interface Bucket {
  readonly from: number;
  readonly to: number | null;
  readonly count: number;
}

/** In milliseconds. Facts are stored by these: they change by a migration only, which computes all facts anew. */
export const ANSWER_BOUNDS = [
  250, 500, 1_000, 2_000, 3_000, 5_000, 8_000, 13_000, 20_000, 30_000, 60_000, 120_000,
];
export const MESSAGE_BOUNDS = [1, 3, 5, 9, 17, 33, 65];
/** In seconds. */
export const LENGTH_BOUNDS = [15, 30, 60, 120, 300, 600, 1_800, 3_600];
/** In milliseconds. */
export const DELIVERY_BOUNDS = [50, 100, 200, 400, 800, 1_500, 3_000, 6_000, 10_000];

/** @param counts by PostgreSQL's width_bucket: below the first bound, from there to the second one, and so on */
export const bucketsOf = (bounds: readonly number[], counts: readonly number[]): Bucket[] =>
  [0, ...bounds].map((from, index) => ({ from, to: bounds[index] ?? null, count: counts[index] ?? 0 }));

/** Lists of counts added up, place by place. */
export const added = (lists: readonly (readonly number[])[]): number[] =>
  lists.reduce<number[]>((sums, list) => list.map((count, index) => count + (sums[index] ?? 0)), []);

/**
 * Below which value this share of all lies, as if those of a bucket were spread evenly over it; undefined without any.
 * In the open bucket its lower bound is all that is known.
 */
export function percentile(buckets: readonly Bucket[], share: number): number | undefined {
  const wanted = share * buckets.reduce((sum, { count }) => sum + count, 0);
  let below = 0;
  for (const { from, to, count } of buckets) {
    if (count > 0 && below + count >= wanted)
      return to === null ? from : from + ((to - from) * (wanted - below)) / count;
    below += count;
  }
  return undefined;
}
