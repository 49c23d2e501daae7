import type { ReadableType, Reading } from "../ports/document-reader";
import { Unreadable, type Block } from "./block";
import { readDocx } from "./docx";
import { readHtml } from "./html";
import { passagesOf } from "./passages";
import { readPdf } from "./pdf";
import { readText } from "./text";

/** More characters than this are not indexed: four million are a thousand pages and more. */
const MOST_CHARACTERS = 4_000_000;
/** A document of headings alone has many short ones. */
const MOST_PASSAGES = 10_000;
const TOO_MUCH = `The file holds more text than can be indexed (${MOST_CHARACTERS / 1_000_000} million characters): split it.`;

const READERS = {
  "text/plain": readText,
  "text/html": readHtml,
  "application/pdf": readPdf,
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": readDocx,
} satisfies Record<ReadableType, (content: Buffer) => Block[] | Promise<Block[]>>;

const EMPTY: Readonly<Record<ReadableType, string>> = {
  "text/plain": "The file holds no text.",
  "text/html": "The page holds no text.",
  "application/pdf": "The PDF holds no text: what was scanned has to go through text recognition first.",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "The document holds no text.",
};

/** Reads a document with the reader of its type. */
export async function read(type: ReadableType, content: Buffer): Promise<Reading> {
  try {
    const blocks = await READERS[type](content);
    if (blocks.reduce((sum, { text }) => sum + text.length, 0) > MOST_CHARACTERS)
      return { problem: TOO_MUCH };
    const passages = passagesOf(blocks);
    if (passages.length > MOST_PASSAGES) return { problem: TOO_MUCH };
    return passages.length === 0 ? { problem: EMPTY[type] } : { passages };
  } catch (error) {
    // A library that fails on a document in a way of its own has found it broken, too.
    const { message } = error as Error;
    return { problem: error instanceof Unreadable ? message : `The file is broken: ${message}` };
  }
}
