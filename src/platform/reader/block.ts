/** A heading or a paragraph of a document, in the order in which they stand there. */
export interface Block {
  readonly text: string;
  /** Of a heading: 1 for the highest. */
  readonly depth?: number;
  /** From 1, where the document has pages. */
  readonly page?: number;
}

/** A document that can't be read, in a sentence for its owner. */
export class Unreadable extends Error {}
