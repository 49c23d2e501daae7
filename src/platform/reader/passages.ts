import type { DocumentPassage } from "../ports/document-reader";
import type { Block } from "./block";

/** Most characters of a passage, the headings above it not counted. */
const LENGTH = 1_000;
/** How much of the end of one piece is said again at the beginning of the next, at most. */
const OVERLAP = 150;
const HEADING_LENGTH = 120;
const HEADINGS = 3;
const SENTENCE_END = /[.!?…]["')\]]?\s|[。！？]|\n/g;

interface Section {
  readonly path: string;
  readonly page: number | undefined;
  readonly paragraphs: string[];
}

/**
 * Passages by headings and paragraphs: short paragraphs under one heading stand together, long ones are cut between
 * sentences and overlap. Each begins with the headings above it, so that it can be understood alone.
 */
export function passagesOf(blocks: readonly Block[]): DocumentPassage[] {
  return sectionsOf(blocks).flatMap(({ path, page, paragraphs }) => {
    const texts = paragraphs.length === 0 ? [""] : packed(paragraphs.flatMap(pieces));
    return texts.map((text) => ({
      text: [path, text].filter(Boolean).join("\n"),
      ...(page !== undefined && { page }),
    }));
  });
}

/** What stands under each heading. A heading above others, with nothing of its own, stands in their paths only. */
function sectionsOf(blocks: readonly Block[]): Section[] {
  const sections: Section[] = [];
  const above: { depth: number; text: string }[] = [];
  let section: Section | undefined;
  for (const { text: raw, depth, page } of blocks) {
    const text = clean(raw);
    if (text === "") continue;
    if (depth === undefined) {
      if (section?.paragraphs.length === 0 && section.page !== page) sections.pop(); // its heading ended the page before
      if (section?.page !== page) section = undefined;
      if (!section) sections.push((section = { path: pathOf(above), page, paragraphs: [] }));
      section.paragraphs.push(text);
      continue;
    }
    if (section?.paragraphs.length === 0 && (above.at(-1)?.depth ?? 0) < depth) sections.pop();
    while ((above.at(-1)?.depth ?? 0) >= depth) above.pop();
    above.push({ depth, text: text.replace(/\s+/g, " ").slice(0, HEADING_LENGTH).toWellFormed() });
    sections.push((section = { path: pathOf(above), page, paragraphs: [] }));
  }
  return sections;
}

const pathOf = (above: readonly { readonly text: string }[]): string =>
  above
    .slice(-HEADINGS)
    .map(({ text }) => text)
    .join(" › ");

/** What PostgreSQL can store, without trailing spaces. */
const clean = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll("\0", "")
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .replace(/^\s*\n/, "")
    .trimEnd();

/** Short pieces together, as many as fit. */
function packed(parts: readonly string[]): string[] {
  const texts: string[] = [];
  for (const part of parts) {
    const last = texts.at(-1);
    if (last !== undefined && last.length + part.length + 2 <= LENGTH)
      texts[texts.length - 1] = `${last}\n\n${part}`;
    else texts.push(part);
  }
  return texts;
}

/** A long paragraph in pieces. */
function pieces(paragraph: string): string[] {
  const found: string[] = [];
  let at = 0;
  while (paragraph.length - at > LENGTH) {
    const window = paragraph.slice(at, at + LENGTH);
    const piece = window.slice(0, cutIn(window));
    found.push(piece.trim());
    at += piece.length - lastSentence(piece).length;
  }
  return [...found, paragraph.slice(at).trim()].filter(Boolean);
}

/** Where a text is best cut: behind a sentence or line, else between words, else inside one, never inside a character. */
function cutIn(text: string): number {
  const behind = (pattern: RegExp) => [...text.matchAll(pattern)].at(-1);
  for (const found of [behind(SENTENCE_END), behind(/\s/g)])
    if (found && found.index > LENGTH / 2) return found.index + found[0].length;
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
}

/** What of a piece is said again in the next: its last sentence, if that is short. */
function lastSentence(text: string): string {
  const start = [...text.trimEnd().matchAll(SENTENCE_END)].at(-1);
  const sentence = start ? text.slice(start.index + start[0].length) : "";
  return sentence.length <= OVERLAP ? sentence : "";
}
