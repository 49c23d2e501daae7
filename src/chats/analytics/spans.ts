/** Length of the slots of sums, in ms. Slots begin at multiples of it in UTC. */
const UNIT_MS = { day: 86_400_000, hour: 3_600_000, quarter: 900_000 };

export type Unit = keyof typeof UNIT_MS;

/** A time span, in ms since 1970, and how its conversations are counted: by sums of slots, or one by one. */
export interface Span {
  readonly unit: Unit | "none";
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** Divides a time span into slots of the largest units possible. @param units largest first */
export function spansOf(from: number, to: number, [unit, ...finer]: readonly Unit[]): Span[] {
  if (from >= to) return [];
  if (unit === undefined) return [{ unit: "none", from, to }];
  const first = ceiling(from, unit);
  const last = floor(to, unit);
  if (first >= last) return spansOf(from, to, finer);
  return [...spansOf(from, first, finer), { unit, from: first, to: last }, ...spansOf(last, to, finer)];
}

/** Divides a time span into quarters of an hour, without the given ones. @param split starts of quarters, ascending */
export function quartersWithout(split: readonly number[], from: number, to: number): Span[] {
  const ends = split.map((at) => at + UNIT_MS.quarter);
  const between = [from, ...ends].flatMap((start, index) => spansOf(start, split[index] ?? to, ["quarter"]));
  return [...between, ...split.map((at, index): Span => ({ unit: "none", from: at, to: ends[index]! }))];
}

export const floor = (time: number, unit: Unit): number => Math.floor(time / UNIT_MS[unit]) * UNIT_MS[unit];
export const ceiling = (time: number, unit: Unit): number => Math.ceil(time / UNIT_MS[unit]) * UNIT_MS[unit];

/** The spans that are counted by sums, and those that are counted one by one. */
export const slotsAndEdges = (spans: readonly Span[]): [slots: Span[], edges: Span[]] => [
  spans.filter(({ unit }) => unit !== "none"),
  spans.filter(({ unit }) => unit === "none"),
];

/** The starts and the ends of spans, as parameters of a statement. */
export const boundsOf = (spans: readonly Span[]): [from: string[], to: string[]] => [
  spans.map(({ from }) => new Date(from).toISOString()),
  spans.map(({ to }) => new Date(to).toISOString()),
];
