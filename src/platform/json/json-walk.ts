export const QUOTE = 34;
export const COMMA = 44;
const BACKSLASH = 92;
const LIST = 91;
const LIST_END = 93;
const OBJECT = 123;
const OBJECT_END = 125;

/** In JSON that is in order nothing else below it stands outside of strings. */
export const isSpace = (code: number): boolean => code <= 32;
export const opens = (code: number): boolean => code === OBJECT || code === LIST;
export const closes = (code: number): boolean => code === OBJECT_END || code === LIST_END;

/** An object and where its text begins and ends. */
export type Found = readonly [object: object, start: number, end: number];

/** Goes once through a JSON text that is in order, beside the value that was read of it, and finds the outer objects. */
export class Walk {
  private readonly found: Found[] = [];
  private at = 0;

  /**
   * @param deepest objects below it are passed over
   * @param most no object is found where there are more
   */
  constructor(
    private readonly text: string,
    private readonly deepest: number,
    private readonly most: number,
  ) {}

  /** Where a key stands twice, the last one found of an object is its text. */
  objects(value: unknown): readonly Found[] {
    this.value(value, 0);
    return this.found.length > this.most ? [] : this.found;
  }

  private value(value: unknown, depth: number): void {
    const code = this.next();
    const start = this.at;
    const fits = typeof value === "object" && value !== null && Array.isArray(value) === (code === LIST);
    if (!fits || !opens(code) || depth === this.deepest) this.at = endOfValue(this.text, start);
    else this.inside(value, code, depth);
    if (fits && code === OBJECT && this.found.push([value, start, this.at]) > this.most)
      this.at = this.text.length;
  }

  private inside(value: object, opening: number, depth: number): void {
    this.at++;
    for (let index = 0; this.at < this.text.length && !closes(this.next()); index++) {
      const key = opening === LIST ? index : this.key();
      this.value((value as Readonly<Record<string, unknown>>)[key], depth + 1);
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

  /** Goes to the next character that is no white space. */
  private next(): number {
    let code = this.text.charCodeAt(this.at);
    while (isSpace(code)) code = this.text.charCodeAt(++this.at);
    return code;
  }
}

/** The place behind the string that begins at `start`. */
export function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at++;
  }
  return at;
}

/** The place behind the value that begins at `start`. */
function endOfValue(text: string, start: number): number {
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
