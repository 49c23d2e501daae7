import { randomInt } from "node:crypto";
import { v7 } from "uuid";
import { currentTime } from "../clock";

/** Half of the 32 bits that count within a millisecond are left for counting. */
const FIRST_COUNTS = 2 ** 31;
let msecs = 0;
let seq = 0;

/**
 * A new identifier: opaque text. Those of one process sort by the time they were made, those of several servers nearly
 * so: where order matters, something else decides it.
 */
export function newId(): string {
  const now = currentTime();
  if (now > msecs) {
    msecs = now;
    seq = randomInt(FIRST_COUNTS);
  } else seq++;
  return v7({ msecs, seq });
}
