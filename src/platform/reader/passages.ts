import type { DocumentPassage } from "../ports/document-reader";
import type { Block } from "./block";

/** Longest passage in characters, without the headings above it. */
const MAX_LENGTH = 1_000;
/** Longest sentence, in characters, that is repeated at the beginning of the next passage. */
const MAX_OVERLAP_LENGTH = 150;
const MAX_HEADING_LENGTH = 120;
/** Headings that begin a passage, innermost last. */
const MAX_HEADINGS = 3;
const SENTENCE_END = /[.!?…]["')\]]?\s|[。！？]|\n/g;

interface Section {
  readonly path: string;
  readonly page: number | undefined;
  readonly paragraphs: string[];
}

/**
 * Divides a document into passages. Short paragraphs under one heading share a passage; long ones are cut between
 * sentences, with an overlap. Each passage begins with the headings above it, so it can be understood by itself.
 */
export function passagesOf(blocks: readonly Block[]): DocumentPassage[] {
  return sectionsOf(blocks).flatMap(({ path, page, paragraphs }) => {
    const texts = paragraphs.length === 0 ? [""] : joinShortParts(paragraphs.flatMap(pieces));
    return texts.map((text) => ({
      text: [path, text].filter(Boolean).join("\n"),
      ...(page !== undefined && { page }),
    }));
  });
}

/** The paragraphs under each heading. A heading without own paragraphs only appears in the paths of its subheadings. */
function sectionsOf(blocks: readonly Block[]): Section[] {
  const sections: Section[] = [];
  const above: { depth: number; text: string }[] = [];
  let section: Section | undefined;
  for (const { text: raw, depth, page } of blocks) {
    const text = clean(raw);
    if (text === "") continue;
    if (depth === undefined) {
      if (section?.paragraphs.length === 0 && section.page !== page) sections.pop(); // a heading at the end of the previous page
      if (section?.page !== page) section = undefined;
      if (!section) sections.push((section = { path: pathOf(above), page, paragraphs: [] }));
      section.paragraphs.push(text);
      continue;
    }
    if (section?.paragraphs.length === 0 && (above.at(-1)?.depth ?? 0) < depth) sections.pop();
    while ((above.at(-1)?.depth ?? 0) >= depth) above.pop();
    above.push({ depth, text: text.replace(/\s+/g, " ").slice(0, MAX_HEADING_LENGTH).toWellFormed() });
    sections.push((section = { path: pathOf(above), page, paragraphs: [] }));
  }
  return sections;
}

const pathOf = (above: readonly { readonly text: string }[]): string =>
  above
    .slice(-MAX_HEADINGS)
    .map(({ text }) => text)
    .join(" › ");

/** Removes trailing spaces and characters that PostgreSQL cannot store. */
const clean = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll("\0", "")
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .replace(/^\s*\n/, "")
    .trimEnd();

/** Joins short paragraphs up to MAX_LENGTH. */
function joinShortParts(parts: readonly string[]): string[] {
  const texts: string[] = [];
  for (const part of parts) {
    const last = texts.at(-1);
    if (last !== undefined && last.length + part.length + 2 <= MAX_LENGTH)
      texts[texts.length - 1] = `${last}\n\n${part}`;
    else texts.push(part);
  }
  return texts;
}

/** Divides a long paragraph into pieces of at most MAX_LENGTH. */
function pieces(paragraph: string): string[] {
  const found: string[] = [];
  let at = 0;
  while (paragraph.length - at > MAX_LENGTH) {
    const window = paragraph.slice(at, at + MAX_LENGTH);
    const piece = window.slice(0, cutPosition(window));
    found.push(piece.trim());
    at += piece.length - overlapOf(piece).length;
  }
  return [...found, paragraph.slice(at).trim()].filter(Boolean);
}

/** Best position for a cut: after a sentence or line, else between words, else within a word, never within a character. */
function cutPosition(text: string): number {
  const last = (pattern: RegExp) => [...text.matchAll(pattern)].at(-1);
  for (const found of [last(SENTENCE_END), last(/\s/g)])
    if (found && found.index > MAX_LENGTH / 2) return found.index + found[0].length;
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
}

/** The end of a piece that the next one repeats: its last sentence, if that is short. */
function overlapOf(text: string): string {
  const start = [...text.trimEnd().matchAll(SENTENCE_END)].at(-1);
  const sentence = start ? text.slice(start.index + start[0].length) : "";
  return sentence.length <= MAX_OVERLAP_LENGTH ? sentence : "";
}
