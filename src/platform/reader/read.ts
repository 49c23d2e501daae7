import type { ReadableType, ReadResult } from "../ports/document-reader";
import { UnreadableDocument, type Block } from "./block";
import { readDocx } from "./docx";
import { readHtml } from "./html";
import { passagesOf } from "./passages";
import { readPdf } from "./pdf";
import { readText } from "./text";

/** Longest text that is indexed: more than a thousand pages. */
const MAX_CHARACTERS = 4_000_000;
/** A document that consists of headings has many short passages. */
const MAX_PASSAGES = 10_000;
const TOO_LONG = `The file has more text than can be indexed (${MAX_CHARACTERS / 1_000_000} million characters): split it.`;

const READERS = {
  "text/plain": readText,
  "text/html": readHtml,
  "application/pdf": readPdf,
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": readDocx,
} satisfies Record<ReadableType, (content: Buffer) => Block[] | Promise<Block[]>>;

const EMPTY: Readonly<Record<ReadableType, string>> = {
  "text/plain": "The file contains no text.",
  "text/html": "The page contains no text.",
  "application/pdf": "The PDF contains no text. Run text recognition (OCR) on scanned pages first.",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "The document contains no text.",
};

/** Reads a document with the reader of its type. Never throws: any failure becomes a `problem`. */
export async function read(type: ReadableType, content: Buffer): Promise<ReadResult> {
  try {
    const blocks = await READERS[type](content);
    if (blocks.reduce((sum, { text }) => sum + text.length, 0) > MAX_CHARACTERS) return { problem: TOO_LONG };
    const passages = passagesOf(blocks);
    if (passages.length > MAX_PASSAGES) return { problem: TOO_LONG };
    return passages.length === 0 ? { problem: EMPTY[type] } : { passages };
  } catch (error) {
    // Any other error comes from a library that could not parse the document.
    const { message } = error as Error;
    return { problem: error instanceof UnreadableDocument ? message : `The file is broken: ${message}` };
  }
}
