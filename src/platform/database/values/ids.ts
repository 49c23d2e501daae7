import { randomInt } from "node:crypto";
import { v7 } from "uuid";
import { currentTime } from "../../clock";

/** Start value of the counter within a millisecond: below half of its 32 bits, which leaves room for counting. */
const FIRST_COUNTS = 2 ** 31;
let msecs = 0;
let seq = 0;

/**
 * Creates an identifier: opaque text. Ids of one process sort by creation; those of several servers only
 * approximately, so nothing relies on their order.
 */
export function newId(): string {
  const now = currentTime();
  if (now > msecs) {
    msecs = now;
    seq = randomInt(FIRST_COUNTS);
  } else seq++;
  return v7({ msecs, seq });
}

/** Time at which an id was created, in milliseconds since 1970. */
export const timeOf = (id: string): number => parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** Identifies a record in all organizations: imported records may have the same id in several. */
export const idInAll = (organizationId: string, id: string): string => JSON.stringify([organizationId, id]);
