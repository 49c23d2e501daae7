import { crc32 } from "node:zlib";
import { microsOf } from "../values/utc-time";
import { hasTime, timeOf } from "./order";

/**
 * A cursor consists of the place of its entry in the list, a checksum and the id of the entry, so that a page after it is
 * exact even if the entry has been removed. The checksum refuses texts that no page has contained; it protects nothing,
 * because any place is one of the caller's own list. The id alone is a cursor, too, as in earlier versions.
 *
 * Servers of earlier versions, which run beside this one during an upgrade, take a cursor for the id of a removed entry: they
 * continue at the time with which it begins in the form of a UUID, or at the id with which it begins. Version 1.0.0 accepts
 * only the characters of UUIDs.
 */
const BY_TIME = /^(([\da-f]{8})-([\da-f]{4})-7-(\d{1,3})-(\d{0,9}))-([\da-f]{8})-(.+)$/s;
const BY_ID = /^(.+)-(([ed])-(\d{0,19}))-([\da-f]{8})$/s;

/** Order of a list: by time (`at`), by the position of an event (`tx`), or by id alone (`id`). The first two end with the id. */
export type CursorKind = "at" | "tx" | "id";

/** The first year that Unix time counts, and the first that PostgreSQL and `Date` write differently. */
const YEARS = { first: 0, end: Date.UTC(10_000, 0) };

const isWritten = (ms: number): boolean => ms >= YEARS.first && ms < YEARS.end;

const exactTime = (ms: number, micros: string): string | undefined =>
  isWritten(ms) ? new Date(ms).toISOString().replace("Z", `${micros.padStart(3, "0")}Z`) : undefined;

const sumOf = (place: string, id: string) => crc32(`${place}-${id}`).toString(16).padStart(8, "0");

/** The cursor of an entry of a list by time. @param part the last part of the entry that a search has reached, if others follow */
export function cursorAt(time: Date, id: string, part?: number): string {
  const ms = Number(time); // of an infinite time, too
  if (!isWritten(ms)) return id;
  const hex = ms.toString(16).padStart(12, "0");
  const place = `${hex.slice(0, 8)}-${hex.slice(8)}-7-${microsOf(time)}-${part ?? ""}`;
  return `${place}-${sumOf(place, id)}-${id}`;
}

/** Makes the cursors of a list by the times in a column. */
export const byTime =
  <C extends string>(column: C) =>
  (entry: Readonly<Record<C, Date>> & { readonly id: string }): string =>
    cursorAt(entry[column], entry.id);

const cursorAfter = (place: string, id: string) => `${id}-${place}-${sumOf(place, id)}`;

/** The cursor of an event. */
export const cursorOfEvent = (position: string, id: string): string => cursorAfter(`e-${position}`, id);

/** The cursor of an entry of a list by id. */
export const cursorById = (id: string): string => cursorAfter("d-", id);

interface Parts {
  readonly kind: CursorKind;
  /** In SQL. */
  readonly value: string;
  /** The last part of the entry that a search has reached; undefined if it has searched all of them. */
  readonly part?: number | undefined;
  readonly id: string;
}

function partsOf(cursor: string): Parts | undefined {
  const [, time, high, low, micros = "", part, sum, entry = ""] = BY_TIME.exec(cursor) ?? [];
  if (time !== undefined && sum === sumOf(time, entry)) {
    const value = exactTime(parseInt(`${high}${low}`, 16), micros);
    const number = part === "" ? undefined : Number(part);
    return value === undefined ? undefined : { kind: "at", value, part: number, id: entry };
  }
  const [, id = "", place, letter, position = "", sumOfPlace] = BY_ID.exec(cursor) ?? [];
  if (place === undefined || sumOfPlace !== sumOf(place, id)) return undefined;
  const kind = letter === "e" ? "tx" : "id";
  return (kind === "tx") === (position === "") ? undefined : { kind, value: position, id };
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
export const partIn = (cursor: string): number | undefined => partsOf(cursor)?.part;

/** Whether a list can continue at a cursor without its entry. */
export const isPlaced = (kind: CursorKind, cursor: string): boolean =>
  placeIn(kind, cursor) !== undefined || hasTime(cursor);
