import { isDeepStrictEqual } from "node:util";
import { MOST_READINGS } from "./read-of-one-version";

/** A value that was read in parts. */
interface Whole<T> {
  readonly value: T;
  /** Whether the last two readings agree. Otherwise the parts may be of several moments. */
  readonly isWhole: boolean;
}

/** Reads a value in parts, from a source without versions, until two readings agree: it did not change between them. */
export async function readUntilEqual<T>(read: () => Promise<T>): Promise<Whole<T>> {
  let value = await read();
  for (let count = 1; count < MOST_READINGS; count++) {
    const before = value;
    value = await read();
    if (isDeepStrictEqual(value, before)) return { value, isWhole: true };
  }
  return { value, isWhole: false };
}
