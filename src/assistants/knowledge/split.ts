import { beginsWithHeading, isMarked, isShortTitle, questionsIn } from "./headings";

/** In characters, without the heading above. */
const MAX_PASSAGE_LENGTH = 1_000;

/**
 * Splits a text into paragraphs, questions with their answers, and long paragraphs between sentences or words.
 * Paragraphs below a heading begin with it: one in Markdown, or a short line by itself.
 */
export function split(text: string): string[] {
  let heading = "";
  let isUsed = true;
  const passages: string[] = [];
  const paragraphs = paragraphsOf(text);
  for (const [at, paragraph] of paragraphs.entries()) {
    const isHeading = isHeadingAlone(paragraph, paragraphs[at + 1]);
    if (isHeading && !isUsed) passages.push(heading);
    if (isHeading) [heading, isUsed] = [paragraph, false];
    else {
      const above = heading === "" || beginsWithHeading(paragraph) ? "" : `${heading}\n`;
      passages.push(...pieces(paragraph).map((piece) => above + piece));
      isUsed = true;
    }
  }
  return isUsed ? passages : [...passages, heading];
}

/** A line with a telephone number or an address is no title of the next paragraph. */
const CONTACT = /\d{4}|@|:\/\//;

const isHeadingAlone = (paragraph: string, next: string | undefined): boolean =>
  !paragraph.includes("\n") &&
  (isMarked(paragraph) || (next !== undefined && !CONTACT.test(paragraph) && isShortTitle(paragraph, next)));

const paragraphsOf = (text: string): string[] =>
  text
    .replace(/\r\n?/g, "\n")
    .split(/\n[^\S\n]*\n/)
    .flatMap((paragraph) => questionsIn(paragraph.trim()))
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== "");

function pieces(paragraph: string): string[] {
  const found: string[] = [];
  let rest = paragraph;
  while (rest.length > MAX_PASSAGE_LENGTH) {
    const part = rest.slice(0, MAX_PASSAGE_LENGTH);
    const cut =
      Math.max(part.lastIndexOf(". ") + 1, part.lastIndexOf("。") + 1, part.lastIndexOf("\n")) ||
      part.lastIndexOf(" ");
    found.push(rest.slice(0, cut > 0 ? cut : MAX_PASSAGE_LENGTH).trim());
    rest = rest.slice(cut > 0 ? cut : MAX_PASSAGE_LENGTH).trim();
  }
  return rest === "" ? found : [...found, rest];
}
