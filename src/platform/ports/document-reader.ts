import type { Readable } from "node:stream";

/** Media types whose text can be read, as detected from the content, and their usual names. */
export const READABLE = {
  "text/plain": "text or Markdown",
  "text/html": "HTML",
  "application/pdf": "PDF",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "DOCX",
} as const;
export type ReadableType = keyof typeof READABLE;

export const isReadable = (type: string): type is ReadableType => Object.hasOwn(READABLE, type);

/** A self-contained piece of a document, short enough to be shown as an answer. */
export interface DocumentPassage {
  /** Begins with the headings above the passage. */
  readonly text: string;
  /** First page of the passage, from 1; absent if the format has no pages. */
  readonly page?: number;
}

/** The passages of a document, or a sentence for its owner about why it cannot be read. */
export type ReadResult = { readonly passages: readonly DocumentPassage[] } | { readonly problem: string };

/** Reads untrusted documents. No document can block or crash the caller. */
export interface DocumentReader {
  /** @throws Error if `content` breaks off or the reading process did not start: worth a retry, unlike a `problem` */
  read(type: ReadableType, content: Readable): Promise<ReadResult>;
}
