import pg from "pg";

/** OID of the type timestamptz. */
export const TIMESTAMPTZ = 1184;

const anyTime = pg.types.getTypeParser(TIMESTAMPTZ, "text") as (text: string) => unknown;
const IN_UTC = /^[1-9]\d{3}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00$/;

/** Microseconds of a stored time after its milliseconds, for which a `Date` has no place. */
const MICROS = Symbol("microseconds");
type StoredTime = Date & { [MICROS]?: number };

/** The microseconds of a time from the database after its milliseconds. */
export const microsOf = (time: Date): number => (time as StoredTime)[MICROS] ?? 0;

const digit = (text: string, at: number) => text.charCodeAt(at) - 48;
const twoDigits = (text: string, at: number) => 10 * digit(text, at) + digit(text, at + 1);

/**
 * Reads a time in UTC, which sessions have; the reader of pg is for all zones and eras. A list has a hundred times, and
 * with ISO text and the parser of `Date` they take twice as long.
 */
export function utcTime(text: string): unknown {
  if (!IN_UTC.test(text)) return anyTime(text);
  const year = 100 * twoDigits(text, 0) + twoDigits(text, 2);
  const end = text.length - 3; // of the fraction, which PostgreSQL writes without zeros at its end
  let micros = 0;
  for (let at = 20; at < 26; at++) micros = 10 * micros + (at < end ? digit(text, at) : 0);
  const ms = Math.floor(micros / 1_000);
  const [hours, minutes, seconds] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)];
  const day = [year, twoDigits(text, 5) - 1, twoDigits(text, 8)] as const;
  const time: StoredTime = new Date(Date.UTC(...day, hours, minutes, seconds, ms));
  if (micros % 1_000 > 0) time[MICROS] = micros % 1_000;
  return time;
}
