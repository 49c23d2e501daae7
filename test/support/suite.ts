/** Whether the suites run every row (`npm run test:attack`, `test:browser`, `test:faults`) instead of a sample. */
export const LONG = process.env.TEST_LENGTH === "long";

/** Rows of a suite, with a title that says how many of all rows they are. */
export interface Rows<T> {
  readonly title: string;
  readonly rows: readonly T[];
}

/** All rows in the long suites; otherwise an evenly spaced sample of this size, the same each time. */
export function rows<T>(all: readonly T[], short = 8): Rows<T> {
  const count = LONG ? all.length : Math.min(short, all.length);
  const taken = Array.from({ length: count }, (_, n) => all[Math.floor((n * all.length) / count)]!);
  return { title: `${count} of ${all.length}`, rows: taken };
}
