export const QUOTE = 34;
export const COMMA = 44;
const BACKSLASH = 92;
const LIST = 91;
const LIST_END = 93;
const OBJECT = 123;
const OBJECT_END = 125;

/** Whether a character outside of strings is white space: valid JSON has no other control characters there. */
export const isSpace = (code: number): boolean => code <= 32;
export const opens = (code: number): boolean => code === OBJECT || code === LIST;
export const closes = (code: number): boolean => code === OBJECT_END || code === LIST_END;

/** An object and the start and end of its text. */
export type LocatedObject = readonly [object: object, start: number, end: number];

/** Walks once through a valid JSON text and the value parsed from it, and locates the objects of the value. */
export class ObjectLocator {
  private readonly found: LocatedObject[] = [];
  private at = 0;

  /**
   * @param maxDepth objects below this depth are skipped
   * @param maxObjects a text with more objects gives none
   * @param leaves name of lists: objects inside their items are skipped
   */
  constructor(
    private readonly text: string,
    private readonly maxDepth: number,
    private readonly maxObjects: number,
    private readonly leaves?: string,
  ) {}

  /** Locates the objects. If a key appears twice, the last entry for the object is the right one. */
  objects(value: unknown): readonly LocatedObject[] {
    this.value(value, 0);
    return this.found.length > this.maxObjects ? [] : this.found;
  }

  private value(value: unknown, depth: number, name?: string | number): void {
    const code = this.next();
    const start = this.at;
    const fits = typeof value === "object" && value !== null && Array.isArray(value) === (code === LIST);
    if (!fits || !opens(code) || depth === this.maxDepth) this.at = endOfValue(this.text, start);
    else this.inside(value, code, code === LIST && name && name === this.leaves ? this.maxDepth - 1 : depth);
    if (fits && code === OBJECT && this.found.push([value, start, this.at]) > this.maxObjects)
      this.at = this.text.length;
  }

  private inside(value: object, opening: number, depth: number): void {
    this.at++;
    for (let index = 0; this.at < this.text.length && !closes(this.next()); index++) {
      const key = opening === LIST ? index : this.key();
      this.value((value as Readonly<Record<string, unknown>>)[key], depth + 1, key);
      if (this.next() === COMMA) this.at++;
    }
    this.at++;
  }

  private key(): string {
    const start = this.at;
    this.at = endOfString(this.text, start);
    const quoted = this.text.slice(start, this.at);
    this.next();
    this.at++; // the colon
    return quoted.includes("\\") ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  }

  /** Skips white space. @returns the next character */
  private next(): number {
    let code = this.text.charCodeAt(this.at);
    while (isSpace(code)) code = this.text.charCodeAt(++this.at);
    return code;
  }
}

/** Position after the string that begins at `start`. */
export function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at++;
  }
  return at;
}

/** Position after the value that begins at `start`. */
export function endOfValue(text: string, start: number): number {
  let at = start;
  for (let open = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (opens(code)) open++;
    else if (open === 0 && (code === COMMA || isSpace(code) || closes(code))) return at;
    else if (closes(code) && --open === 0) return at + 1;
  }
  return at;
}
