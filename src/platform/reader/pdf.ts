import { getDocumentProxy } from "unpdf";
import { Unreadable, type Block } from "./block";

/** A line of a page. */
interface Line {
  text: string;
  /** Of its letters; 0 while it has none. */
  height: number;
  /** From the bottom of the page. */
  readonly y: number;
}

type Document = Awaited<ReturnType<typeof getDocumentProxy>>;
type Items = Awaited<ReturnType<Awaited<ReturnType<Document["getPage"]>>["getTextContent"]>>["items"];

/** Letters this much larger than most are a heading's. */
const LARGER = 1.15;
const HEADING_LENGTH = 120;
/** More than this many line heights between two lines are a gap between paragraphs. */
const GAP = 1.65;

/** The text of a PDF by its lines; larger letters are headings. What stands on most pages alike is left out. */
export async function readPdf(content: Buffer): Promise<Block[]> {
  const document = await opened(content);
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

async function opened(content: Buffer): Promise<Document> {
  try {
    return await getDocumentProxy(new Uint8Array(content), { isEvalSupported: false, stopAtErrors: false });
  } catch (error) {
    const { name, message } = error as Error;
    throw new Unreadable(
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

/** A line with its digits alike: page numbers and dates do not make a footer another one. */
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

/** The height that most letters have. */
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
    const goesOn =
      last &&
      before &&
      depth === last.depth &&
      Math.abs(before.y - line.y) <= Math.max(before.height, line.height) * GAP;
    if (goesOn) last.text = joined(last.text, line.text);
    else blocks.push({ text: line.text.trim(), page, ...(depth !== undefined && { depth }) });
    before = line;
  }
  return blocks;
}

function depthOf({ height, text }: Line, body: number): number | undefined {
  if (body === 0 || height < body * LARGER || text.length > HEADING_LENGTH) return undefined;
  return height >= body * 1.8 ? 1 : height >= body * 1.35 ? 2 : 3;
}

/** A word that was parted at the end of a line is one again. */
const joined = (text: string, next: string): string =>
  /\p{L}-$/u.test(text) && /^\s*\p{Ll}/u.test(next)
    ? text.slice(0, -1) + next.trim()
    : `${text}\n${next.trim()}`;
