import { getDocumentProxy } from "unpdf";
import { UnreadableDocument, type Block } from "./block";

/** A line of a page. */
interface Line {
  text: string;
  /** Height of its tallest letters, in points; 0 until it has letters. */
  height: number;
  /** Distance from the bottom of the page, in points. */
  readonly y: number;
}

type Document = Awaited<ReturnType<typeof getDocumentProxy>>;
type Items = Awaited<ReturnType<Awaited<ReturnType<Document["getPage"]>>["getTextContent"]>>["items"];

/** Smallest ratio of a heading's letter height to the usual one, for heading levels 1 to 3. */
const HEADING_RATIOS = [1.8, 1.35, 1.15] as const;
const MAX_HEADING_LENGTH = 120;
/** Largest distance between two lines of a paragraph, in line heights. */
const MAX_LINE_DISTANCE = 1.65;

/** Reads the text of a PDF; lines in larger letters are headings. Lines repeated on most pages (headers, footers) are left out. */
export async function readPdf(content: Buffer): Promise<Block[]> {
  const document = await openDocument(content);
  const pages: Line[][] = [];
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number);
    pages.push(linesOf((await page.getTextContent()).items));
    page.cleanup();
  }
  const repeated = repeatedLines(pages);
  const body = usualHeight(pages.flat());
  return pages.flatMap((lines, index) =>
    blocksOf(
      lines.filter(({ text }) => !repeated.has(shapeOf(text))),
      body,
      index + 1,
    ),
  );
}

async function openDocument(content: Buffer): Promise<Document> {
  try {
    return await getDocumentProxy(new Uint8Array(content), { isEvalSupported: false, stopAtErrors: false });
  } catch (error) {
    const { name, message } = error as Error;
    throw new UnreadableDocument(
      name === "PasswordException"
        ? "The PDF is protected by a password: upload it without one."
        : `The PDF is broken: ${message}`,
    );
  }
}

function linesOf(items: Items): Line[] {
  const lines: Line[] = [];
  let open = false;
  for (const item of items) {
    if (!("str" in item)) continue;
    const { str, height, hasEOL, transform } = item;
    if (!open && str !== "") lines.push({ text: "", height: 0, y: Number((transform as number[])[5]) });
    open ||= str !== "";
    const line = lines.at(-1);
    if (line && open) {
      line.text += str;
      line.height = Math.max(line.height, height);
    }
    if (hasEOL) open = false;
  }
  return lines.filter(({ text }) => text.trim() !== "");
}

/** A line with every number replaced, so that footers with different page numbers or dates are equal. */
const shapeOf = (text: string): string => text.trim().replace(/\d+/g, "#");

function repeatedLines(pages: readonly (readonly Line[])[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const lines of pages)
    for (const shape of new Set(lines.map(({ text }) => shapeOf(text))))
      counts.set(shape, (counts.get(shape) ?? 0) + 1);
  return new Set(
    pages.length < 3
      ? []
      : [...counts].filter(([, count]) => count > pages.length / 2).map(([shape]) => shape),
  );
}

/** The most frequent letter height. */
function usualHeight(lines: readonly Line[]): number {
  const letters = new Map<number, number>();
  for (const { height, text } of lines) {
    const rounded = Math.round(height * 2) / 2;
    letters.set(rounded, (letters.get(rounded) ?? 0) + text.length);
  }
  return [...letters].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0;
}

function blocksOf(lines: readonly Line[], body: number, page: number): Block[] {
  const blocks: { text: string; depth?: number; page: number }[] = [];
  let before: Line | undefined;
  for (const line of lines) {
    const depth = depthOf(line, body);
    const last = blocks.at(-1);
    const continues =
      last &&
      before &&
      depth === last.depth &&
      Math.abs(before.y - line.y) <= Math.max(before.height, line.height) * MAX_LINE_DISTANCE;
    if (continues) last.text = joinLines(last.text, line.text);
    else blocks.push({ text: line.text.trim(), page, ...(depth !== undefined && { depth }) });
    before = line;
  }
  return blocks;
}

/** Heading level of a line; undefined for text. @param body usual letter height, in points */
function depthOf({ height, text }: Line, body: number): number | undefined {
  if (body === 0 || text.length > MAX_HEADING_LENGTH) return undefined;
  const level = HEADING_RATIOS.findIndex((ratio) => height >= body * ratio) + 1;
  return level === 0 ? undefined : level;
}

/** Joins two lines; a word hyphenated at the line end becomes one word again. */
const joinLines = (text: string, next: string): string =>
  /\p{L}-$/u.test(text) && /^\s*\p{Ll}/u.test(next)
    ? text.slice(0, -1) + next.trim()
    : `${text}\n${next.trim()}`;
