import { randomUUID } from "node:crypto";
import { Attached } from "../attached";
import { closes, endOfString, isSpace, opens, ObjectLocator, COMMA, QUOTE } from "./object-locator";

/*
 * JavaScript cannot represent every JSON value exactly: it moves integer-like keys to the front and rounds numbers.
 * Therefore the original text of the items of `functions` is stored alongside them, without white space.
 */

interface Span {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}
/** Positions of objects in the body of their request. */
const spans = new WeakMap<object, Span>();
/** Text of objects that came with a request. */
const sent = new WeakMap<object, string>();
/** Text of objects that were read from the database. */
const stored = new WeakMap<object, string>();

/** Greatest depth of an item of `functions` in a body: variables, versions, item, document, chat, functions, item. */
const MAX_DEPTH = 7;
/** Bodies with more objects keep no text. An import of 100 versions with all functions has 20,000. */
const MAX_OBJECTS = 50_000;
/** Longer texts are not kept. */
const MAX_BYTES = 1_048_576;
/** Prefix of a stored list whose items keep their text. Columns of the type json preserve white space. */
const EXACT_PREFIX = " ";
/** Prefix of the placeholder for a kept text in a response. Random, so no client can send it. */
const TEXT_PREFIX = `json:${randomUUID()}:`;
/** Prefix of the placeholder for a value that is read later. No JSON text begins with "late". */
const LATE_PREFIX = `${TEXT_PREFIX}late:`;

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const textOf = (value: unknown): string | undefined =>
  isObject(value) ? (sent.get(value) ?? stored.get(value)) : undefined;

/** Records the positions of a body's objects in its text if it may contain `functions`. */
export function markSources(text: string, value: unknown): void {
  if (!text.includes("functions")) return;
  const objects = new ObjectLocator(text, MAX_DEPTH, MAX_OBJECTS, "functions").objects(value);
  for (const [object, start, end] of objects) spans.set(object, { text, start, end });
}

/**
 * Keeps the text of a validated free-form object of a request. An object with duplicate keys is not kept: only the last
 * value of a key was validated.
 * @param literal the object's text, if it was not part of a marked body
 */
export function keepSource(value: object, literal?: string): void {
  const span = literal === undefined ? spans.get(value) : { text: literal, start: 0, end: literal.length };
  if (!span) return;
  const json = JSON.stringify(value);
  const { text, values } = compact(span);
  if (text === json || values !== compact({ text: json, start: 0, end: json.length }).values) return;
  if (Buffer.byteLength(text) <= MAX_BYTES) sent.set(value, text);
}

/** The JSON text of a value; if the original text of the value or of its items is known, that text. */
export function exactText(value: object): string {
  const text = textOf(value);
  if (text !== undefined) return text;
  if (!hasExactItems(value)) return JSON.stringify(value);
  return `[${value.map((item) => textOf(item) ?? JSON.stringify(item ?? null)).join(",")}]`;
}

/** Whether the text of an object has an order of keys or numbers that its value has not. */
export function isInexact(value: object): boolean {
  const text = textOf(value);
  return text !== undefined && text !== JSON.stringify(value);
}

/** Text of a value for a column of the type json or jsonb; lists of functions keep the text of their items. */
export const storedText = (value: object): string =>
  hasExactItems(value) ? EXACT_PREFIX + exactText(value) : JSON.stringify(value);

const hasExactItems = (value: object): value is unknown[] =>
  Array.isArray(value) && value.some((item) => textOf(item) !== undefined);

/** Parses a column of the type json and remembers the text of items that were stored exactly. */
export function readStored(text: string): unknown {
  const value = JSON.parse(text) as unknown;
  if (text.startsWith(EXACT_PREFIX))
    for (const [item, start, end] of new ObjectLocator(text, 1, MAX_OBJECTS).objects(value))
      stored.set(item, text.slice(start, end));
  return value;
}

/** Parses a JSON text, and remembers the texts of objects in lists called `functions` at any depth, for `exactJson`. */
export function readExactly(text: string): unknown {
  const value = JSON.parse(text) as unknown;
  if (!text.includes("functions")) return value;
  const items = new Set<unknown>(itemsOfFunctions(value));
  for (const [object, start, end] of new ObjectLocator(text, Infinity, Infinity, "functions").objects(value))
    if (items.has(object)) stored.set(object, compact({ text, start, end }).text);
  return value;
}

function itemsOfFunctions(value: unknown): unknown[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
    name === "functions" && Array.isArray(inner) ? (inner as unknown[]) : itemsOfFunctions(inner),
  );
}

/** The JSON text of a value, with the remembered texts of its objects. */
export const exactJson = (value: unknown): string =>
  revealed(JSON.stringify(value, (_, one: unknown) => placeholderOf(one) ?? one));

function placeholderOf(value: unknown): string | undefined {
  const text = isObject(value) ? stored.get(value) : undefined;
  return text === undefined ? undefined : TEXT_PREFIX + text;
}

/** Placeholder for a value in a response, which `piecesOf` replaces by the kept text; the value itself if it has none. */
export function shownJson(value: unknown): unknown {
  const placeholder = placeholderOf(value);
  return placeholder === undefined ? value : { toJSON: () => placeholder };
}

/** A value for a response whose objects, at any depth, are sent by their kept texts. */
export function shownValue<T>(value: T): T {
  if (!isObject(value)) return value;
  const shown = shownJson(value);
  if (shown !== value) return shown as T; // its text is that of the value
  if (Array.isArray(value)) return value.map(shownValue) as T;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shownValue<unknown>(one)])) as T;
}

type ReadValue = () => Promise<unknown>;
/** Functions that read the late values of a response, by its owner. */
const late = new Attached<ReadValue[]>();

/** Declares that the response of `owner` is sent in pieces, so that its long values may be read while it is sent. */
export const answerInPieces = (owner: object): void => void late.set(owner, []);

/** Placeholder for a value that is read when its part of the response is sent; undefined if the response is sent as a whole. */
export function lateJson(owner: object, read: ReadValue): string | undefined {
  const reads = late.get(owner);
  return reads && LATE_PREFIX + (reads.push(read) - 1);
}

export const isLate = (value: unknown): boolean => typeof value === "string" && value.startsWith(LATE_PREFIX);

/** Reads the value of a placeholder in the response of `owner`. */
export const readLate = (owner: object, placeholder: string): Promise<unknown> =>
  late.get(owner)![Number(placeholder.slice(LATE_PREFIX.length))]!();

/** A piece of a response: text, or a function that reads it. */
export type Piece = string | (() => Promise<string>);

/** Divides a response into pieces and replaces its placeholders. A response without late values is one piece. */
export function piecesOf(json: string, owner: object): [Piece, ...Piece[]] {
  const start = `"${TEXT_PREFIX}`;
  const pieces: Piece[] = [];
  let text = "";
  let at = 0;
  for (let found = json.indexOf(start); found >= 0; found = json.indexOf(start, at)) {
    const end = endOfString(json, found);
    const placeholder = JSON.parse(json.slice(found, end)) as string; // begins and ends with quotes
    text += json.slice(at, found);
    if (isLate(placeholder)) {
      pieces.push(text, async () => textOfAny(await readLate(owner, placeholder)));
      text = "";
    } else text += placeholder.slice(TEXT_PREFIX.length);
    at = end;
  }
  const last = at === 0 ? json : text + json.slice(at);
  const [first = last, ...more] = pieces;
  return pieces.length === 0 ? [last] : [first, ...more, last];
}

const textOfAny = (value: unknown): string =>
  isObject(value) ? exactText(value) : JSON.stringify(value ?? null);

/** Replaces the placeholders of a response that is sent as a whole. */
export const revealed = (json: string): string => piecesOf(json, {}).join("");

/** A JSON text without white space, and the number of values in it at all depths. */
function compact({ text, start, end }: Span): { text: string; values: number } {
  let result = "";
  let from = start;
  let values = 0;
  let isFirst = false;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (isSpace(code)) {
      result += text.slice(from, at);
      from = at + 1;
      continue;
    }
    if (code === COMMA || (isFirst && !closes(code))) values++;
    isFirst = opens(code);
    if (code === QUOTE) at = endOfString(text, at) - 1;
  }
  return { text: result + text.slice(from, end), values };
}
