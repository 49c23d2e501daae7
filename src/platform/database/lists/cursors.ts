import { crc32 } from "node:zlib";
import { microsOf } from "../values/utc-time";
import { hasTime, timeOf } from "./order";

/**
 * A cursor consists of the place of its entry in the list, a checksum and the id of the entry, so that a page after it is
 * exact even if the entry has been removed. The checksum refuses texts that no page has contained; it protects nothing,
 * because any place is one of the caller's own list. The id alone is a cursor, too, as in earlier versions.
 */
const FORM = /^([a-z]{2})-([^.]*)\.([\da-z]+)\.(.+)$/s;

const TIME = /^(-?[\da-z]{1,10})-(\d{1,3})(?:-(\d{1,9}))?$/;

/** What lists are ordered by besides ids. Each reads its part of a cursor as a value in SQL. */
const PLACES = {
  /** A time: milliseconds and microseconds. A part that a search has reached within the entry may follow. */
  at: (text: string) => {
    const [, ms = "", micros = ""] = TIME.exec(text) ?? [];
    return exactTime(parseInt(ms, 36), Number(micros));
  },
  /** The position of an event. All of this length are in the range of the type. */
  tx: (text: string) => (/^\d{1,19}$/.test(text) ? text : undefined),
  /** Nothing but the id. */
  id: (text: string) => text,
};
export type CursorKind = keyof typeof PLACES;

/** Years of four digits, which PostgreSQL and `Date` write and read in the same way. */
const YEARS = { first: Date.UTC(1000, 0), end: Date.UTC(10_000, 0) };

const isWritten = (ms: number): boolean => ms >= YEARS.first && ms < YEARS.end;

function exactTime(ms: number, micros: number): string | undefined {
  if (!isWritten(ms)) return undefined;
  return new Date(ms).toISOString().replace("Z", `${String(micros).padStart(3, "0")}Z`);
}

const sumOf = (kind: string, place: string, id: string) => crc32(`${kind}-${place}.${id}`).toString(36);

const cursorOf = (kind: CursorKind, place: string, id: string): string =>
  `${kind}-${place}.${sumOf(kind, place, id)}.${id}`;

/** The cursor of an entry of a list by time. @param part the last part of the entry that a search has reached, if others follow */
export function cursorAt(time: Date, id: string, part?: number): string {
  const ms = Number(time); // of an infinite time, too
  if (!isWritten(ms)) return id;
  const within = part === undefined ? "" : `-${part}`;
  return cursorOf("at", `${ms.toString(36)}-${microsOf(time)}${within}`, id);
}

/** Makes the cursors of a list by the times in a column. */
export const byTime =
  <C extends string>(column: C) =>
  (entry: Readonly<Record<C, Date>> & { readonly id: string }): string =>
    cursorAt(entry[column], entry.id);

/** The cursor of an event. */
export const cursorOfEvent = (position: string, id: string): string => cursorOf("tx", position, id);

/** The cursor of an entry of a list by id. */
export const cursorById = (id: string): string => cursorOf("id", "", id);

interface Parts {
  readonly kind: string;
  readonly place: string;
  readonly value: string;
  readonly id: string;
}

function partsOf(cursor: string): Parts | undefined {
  const [, kind = "", place = "", sum, id = ""] = FORM.exec(cursor) ?? [];
  if (!(kind in PLACES) || sum !== sumOf(kind, place, id)) return undefined;
  const value = PLACES[kind as CursorKind](place);
  return value === undefined ? undefined : { kind, place, value, id };
}

/** The id of a cursor's entry. */
export const idIn = (cursor: string): string => partsOf(cursor)?.id ?? cursor;

/** The place in a cursor, in SQL; undefined for an id alone. */
export function placeIn(kind: CursorKind, cursor: string): string | undefined {
  const parts = partsOf(cursor);
  return parts?.kind === kind ? parts.value : undefined;
}

/** The time in a cursor. That of an id alone is only near the entry's. */
export const timeIn = (cursor: string): string => placeIn("at", cursor) ?? timeOf(cursor);

/** The last part of a cursor's entry that a search has reached; undefined if it has searched all of them. */
export function partIn(cursor: string): number | undefined {
  const [, , , part] = TIME.exec(partsOf(cursor)?.place ?? "") ?? [];
  return part === undefined ? undefined : Number(part);
}

/** Whether a list can continue at a cursor without its entry. */
export const isPlaced = (kind: CursorKind, cursor: string): boolean =>
  placeIn(kind, cursor) !== undefined || hasTime(cursor);
