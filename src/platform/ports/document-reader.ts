import type { Readable } from "node:stream";

/** Types of files that can be read, as their content shows them, and what people call them. */
export const READABLE = {
  "text/plain": "text or Markdown",
  "text/html": "HTML",
  "application/pdf": "PDF",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "DOCX",
} as const;
export type ReadableType = keyof typeof READABLE;

export const isReadable = (type: string): type is ReadableType => Object.hasOwn(READABLE, type);

/** A piece of a document that stands for itself, short enough to be shown as an answer. */
export interface DocumentPassage {
  /** Begins with the headings that it stands under. */
  readonly text: string;
  /** Page that it begins on, from 1, where the document has pages. */
  readonly page?: number;
}

/** What a document holds, or in a sentence for its owner why that can't be told. */
export type Reading = { readonly passages: readonly DocumentPassage[] } | { readonly problem: string };

/** Reads documents that strangers wrote: whatever is in them, the caller goes on. */
export interface DocumentReader {
  /** @throws Error when `content` breaks off or nothing could be started: worth another try, as a problem is not */
  read(type: ReadableType, content: Readable): Promise<Reading>;
}
