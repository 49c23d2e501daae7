/** Whether the long suites run (`npm run test:attack`, `npm run test:faults`): every row, and not a sample of them. */
export const LONG = process.env.TEST_LENGTH === "long";

/** Rows of a suite, with a title that tells how many of how many they are. */
export interface Rows<T> {
  readonly title: string;
  readonly rows: readonly T[];
}

/** Every row in the long suites; else so many of them, spread evenly and the same each time. */
export function rows<T>(all: readonly T[], short = 8): Rows<T> {
  const count = LONG ? all.length : Math.min(short, all.length);
  const taken = Array.from({ length: count }, (_, n) => all[Math.floor((n * all.length) / count)]!);
  return { title: `${count} of ${all.length}`, rows: taken };
}
