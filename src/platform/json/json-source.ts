import { randomUUID } from "node:crypto";
import { closes, endOfString, isSpace, opens, Walk, COMMA, QUOTE } from "./json-walk";

/*
 * JavaScript cannot hold every JSON value as it was sent: it moves integer-like keys to the front and rounds numbers.
 * The items of `functions` therefore keep their text beside them, without white space.
 */

interface Span {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}
/** Where objects of a request stood in its body. */
const spans = new WeakMap<object, Span>();
/** Of values that came with a request. */
const sent = new WeakMap<object, string>();
/** Of values that were read from the database. */
const stored = new WeakMap<object, string>();

/** An item of `functions` stands at most so deep in a body: variables, input, functions, item. */
const DEEPEST = 4;
/** So many objects are looked after in one body; those of the longest legal request are far fewer. */
const MOST_OBJECTS = 10_000;
/** Longer texts are not kept. */
const MOST_BYTES = 1_048_576;
/** Begins the text of a list that holds kept texts: the column's type, json, leaves white space as it is. */
const KEPT = " ";
/** Begins a string that stands for a kept text in an answer. Nobody outside knows it. */
const MARK = `json:${randomUUID()}:`;
/** Begins a string that stands for a value which is still to be read. No kept text begins so. */
const LATE = `${MARK}late:`;

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const textOf = (value: unknown): string | undefined =>
  isObject(value) ? (sent.get(value) ?? stored.get(value)) : undefined;

/** Remembers where the objects of a body stand in its text, where it may hold functions. */
export function markSources(text: string, value: unknown): void {
  if (!text.includes("functions")) return;
  const objects = new Walk(text, DEEPEST, MOST_OBJECTS).objects(value);
  for (const [object, start, end] of objects) spans.set(object, { text, start, end });
}

/**
 * Keeps the text of a free-form object that was checked and came with a request. Of a key that stands twice only the
 * last value was checked: such an object stays as JavaScript reads it.
 * @param literal its text, where it did not stand in a marked body
 */
export function keepSource(value: object, literal?: string): void {
  const span = literal === undefined ? spans.get(value) : { text: literal, start: 0, end: literal.length };
  if (!span) return;
  const json = JSON.stringify(value);
  const { text, values } = compact(span);
  if (text === json || values !== compact({ text: json, start: 0, end: json.length }).values) return;
  if (Buffer.byteLength(text) <= MOST_BYTES) sent.set(value, text);
}

/** The JSON text of a value, as it was sent where that is known of it or of the items of a list. */
export function exactText(value: object): string {
  const text = textOf(value);
  if (text !== undefined) return text;
  if (!hasKept(value)) return JSON.stringify(value);
  return `[${value.map((item) => textOf(item) ?? JSON.stringify(item ?? null)).join(",")}]`;
}

/** A value as a column of the type json or jsonb takes it; lists of functions keep the text of their items. */
export const storedText = (value: object): string =>
  hasKept(value) ? KEPT + exactText(value) : JSON.stringify(value);

const hasKept = (value: object): value is unknown[] =>
  Array.isArray(value) && value.some((item) => textOf(item) !== undefined);

/** The value of a column of the type json. */
export function readStored(text: string): unknown {
  const value = JSON.parse(text) as unknown;
  if (text.startsWith(KEPT))
    for (const [item, start, end] of new Walk(text, 1, MOST_OBJECTS).objects(value))
      stored.set(item, text.slice(start, end));
  return value;
}

/** Stands for a value in an answer that `piecesOf` completes once it is text; the value itself where no text is kept. */
export function shownJson(value: unknown): unknown {
  const text = isObject(value) ? stored.get(value) : undefined;
  return text === undefined ? value : { toJSON: () => MARK + text };
}

type Read = () => Promise<unknown>;
/** How values are read that an answer does not hold yet, by whose answer it is. */
const late = new WeakMap<object, Read[]>();

/** Says that the answer to `asker` is sent in pieces, so that its long values may be read as late as that. */
export const answerInPieces = (asker: object): void => void late.set(asker, []);

/** Stands for a value that is read when its place in the answer is sent; undefined where the answer is sent as a whole. */
export function lateJson(asker: object, read: Read): string | undefined {
  const reads = late.get(asker);
  return reads && LATE + (reads.push(read) - 1);
}

export const isLate = (value: unknown): boolean => typeof value === "string" && value.startsWith(LATE);

/** The value that a mark of this asker stands for. */
export const readLate = (asker: object, mark: string): Promise<unknown> =>
  late.get(asker)![Number(mark.slice(LATE.length))]!();

/** Of an answer: text, or a text that is still to be read. */
export type Piece = string | (() => Promise<string>);

/** The pieces of an answer, kept texts in the places of what stood for them. Usually it is one. */
export function piecesOf(json: string, asker: object): [Piece, ...Piece[]] {
  const start = `"${MARK}`;
  const pieces: Piece[] = [];
  let text = "";
  let at = 0;
  for (let found = json.indexOf(start); found >= 0; found = json.indexOf(start, at)) {
    const end = endOfString(json, found);
    const marked = JSON.parse(json.slice(found, end)) as string; // by its quotes
    text += json.slice(at, found);
    if (isLate(marked)) {
      pieces.push(text, async () => textOfAny(await readLate(asker, marked)));
      text = "";
    } else text += marked.slice(MARK.length);
    at = end;
  }
  const last = at === 0 ? json : text + json.slice(at);
  const [first = last, ...more] = pieces;
  return pieces.length === 0 ? [last] : [first, ...more, last];
}

const textOfAny = (value: unknown): string =>
  isObject(value) ? exactText(value) : JSON.stringify(value ?? null);

/** JSON in which kept texts stand in the places of what stood for them; of an answer that is sent as a whole. */
export const revealed = (json: string): string => piecesOf(json, {}).join("");

/** A JSON text without white space, and how many values stand inside it at all depths. */
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
