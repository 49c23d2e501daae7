import {
  isCollection,
  isNode,
  isScalar,
  parseDocument,
  Scalar,
  visit,
  type Document,
  type Node,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { equal } from "./changes";
import { placeComments } from "./comments";

type Collection = YAMLMap | YAMLSeq;

/** Long lines stay as they are, and texts in quotation marks on one line. */
const STYLE = { lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity } as const;

/** Writes a changed document so that what is unchanged keeps its form: lists and maps in brackets, and texts over lines. */
export class YamlForm {
  private readonly before: string;
  /** The values of collections in brackets, and of texts that the library would write otherwise, by their places. */
  private readonly own = new Map<number, string>();

  constructor(
    private readonly source: string,
    private readonly document: Document,
  ) {
    this.before = document.toString(STYLE);
    visit(document, {
      Collection: (_, node) => {
        if (node.flow && node.range && !node.tag) this.own.set(node.range[0], JSON.stringify(node));
      },
      Scalar: (_, node) => {
        if (node.range && !node.tag && hasOwnForm(node, this.sourceOf(node)))
          this.own.set(node.range[0], JSON.stringify(node));
      },
    });
  }

  /** The text of the document as it is now. @throws Error if an alias has lost its anchor */
  text(): string {
    const plain = this.document.toString(STYLE);
    if (plain === this.before) return this.source;
    const value = valueOf(plain);
    // A text in a place with another indentation may get another value.
    for (const isKept of [isNode, isCollection]) {
      const restored = this.restored(plain, isKept);
      if (equal(valueOf(restored), value)) return this.withLineEnds(restored);
    }
    return this.withLineEnds(plain);
  }

  private restored(plain: string, isKept: (node: Node) => boolean): string {
    let mark = "form";
    while (plain.includes(mark)) mark += "_";
    const parts: string[] = [];
    const standIn = (node: Collection | Scalar) => {
      if (!node.range || !isKept(node) || this.own.get(node.range[0]) !== JSON.stringify(node))
        return undefined;
      const stand = new Scalar(`${mark}${parts.length}.`);
      parts.push(this.sourceOf(node));
      const { commentBefore, spaceBefore, anchor } = node;
      const comment = this.commentAfter(node);
      return Object.assign(stand, { commentBefore, spaceBefore, comment, ...(anchor && { anchor }) });
    };
    const document = this.document.clone();
    visit(document, { Collection: (_, node) => standIn(node), Scalar: (_, node) => standIn(node) });
    const [start = "", ...stood] = document.toString(STYLE).split(mark);
    const restored = stood.map((text) => {
      const end = text.indexOf(".");
      return parts[Number(text.slice(0, end))]! + text.slice(end + 1);
    });
    return start + restored.join("");
  }

  /** The text of a node that was parsed. That of a block ends before its last line break. */
  private sourceOf({ range }: Collection | Scalar): string {
    const [start, end] = range!;
    return this.source.slice(start, end).replace(/\r?\n$/, "");
  }

  /** The comment on the last line of a node. A block has that of its first line in its text. */
  private commentAfter(node: Collection | Scalar): string | undefined {
    const [, end, after] = node.range!;
    const isBlock = isScalar(node) && node.type === Scalar.BLOCK_FOLDED;
    return isBlock ? undefined : /#(.*)/.exec(this.source.slice(end, after))?.[1];
  }

  private withLineEnds(text: string): string {
    return this.source.includes("\r\n") ? text.replaceAll(/\r?\n/g, "\r\n") : text;
  }
}

/** Whether the library would write a text otherwise than its author: on one line, or without escapes. */
const hasOwnForm = ({ type }: Scalar, source: string): boolean =>
  type !== Scalar.BLOCK_LITERAL &&
  (source.includes("\n") || (type === Scalar.QUOTE_DOUBLE && source.includes("\\")));

const valueOf = (text: string): unknown => {
  const document = parseDocument(text, { stringKeys: true });
  return document.errors.length === 0 ? (document.toJS() as unknown) : undefined;
};

/** A document with copies in place of its aliases. */
export function withoutAliases(source: string): Document {
  const document = parseDocument(source, { stringKeys: true });
  placeComments(document, source);
  visit(document, { Alias: (_, alias) => alias.resolve(document)?.clone() as Node | undefined });
  visit(document, { Value: (_, node) => void delete node.anchor });
  return document;
}

/** The text of a document without a source. */
export const textOfNew = (document: Document): string => document.toString(STYLE);
