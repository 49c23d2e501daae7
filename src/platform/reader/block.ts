/** A heading or a paragraph of a document. */
export interface Block {
  readonly text: string;
  /** Level of a heading, 1 for the highest; absent for paragraphs. */
  readonly depth?: number;
  /** Page number, from 1; absent if the format has no pages. */
  readonly page?: number;
}

/** A document cannot be read; the message is a sentence for its owner. */
export class UnreadableDocument extends Error {}
