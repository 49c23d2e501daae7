import { COMMA, ObjectLocator, closes, endOfString, endOfValue, isSpace } from "./object-locator";

/** A change of a member of an object in a JSON text: the text of its new value; undefined removes the member. */
export interface MemberChange {
  readonly object: object;
  readonly key: string;
  readonly value: string | undefined;
}

/** Objects below this depth are not found: the items of a list, and objects in them. */
const MAX_DEPTH = 2;

/**
 * Changes members of objects in a JSON text, and leaves all else as it is written, such as the order of keys.
 * @param value the value that was parsed from the text; it has the objects of the changes
 */
export function replaceMembers(text: string, value: unknown, changes: readonly MemberChange[]): string {
  if (changes.length === 0) return text;
  const starts = new Map(
    new ObjectLocator(text, MAX_DEPTH, Infinity).objects(value).map(([object, start]) => [object, start]),
  );
  const edits = changes.flatMap(({ object, key, value }) => {
    const start = starts.get(object);
    const member = start === undefined ? undefined : memberOf(text, start, key);
    if (!member) return [];
    return [
      value === undefined
        ? { from: member.start, to: member.end, by: "" }
        : { from: member.value, to: member.valueEnd, by: value },
    ];
  });
  let result = text;
  for (const { from, to, by } of edits.sort((a, b) => b.from - a.from))
    result = result.slice(0, from) + by + result.slice(to);
  return result;
}

interface Member {
  /** With the comma after it, or else the one before it. */
  readonly start: number;
  readonly end: number;
  readonly value: number;
  readonly valueEnd: number;
}

/** The place of a member of the object that begins at `start`. */
function memberOf(text: string, start: number, key: string): Member | undefined {
  let comma: number | undefined;
  let at = skipSpace(text, start + 1);
  while (at < text.length && !closes(text.charCodeAt(at))) {
    const nameEnd = endOfString(text, at);
    const value = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const valueEnd = endOfValue(text, value);
    const after = skipSpace(text, valueEnd);
    const isLast = text.charCodeAt(after) !== COMMA;
    if (JSON.parse(text.slice(at, nameEnd)) === key)
      return isLast
        ? { start: comma ?? at, end: valueEnd, value, valueEnd }
        : { start: at, end: skipSpace(text, after + 1), value, valueEnd };
    if (isLast) return undefined;
    comma = after;
    at = skipSpace(text, after + 1);
  }
  return undefined;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}
