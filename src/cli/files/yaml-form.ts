import { parseDocument, Scalar, visit, type Document, type Node } from "yaml";
import { equal } from "./changes";

/** Long lines stay as they are. */
const STYLE = { lineWidth: 0 } as const;

/** Writes a changed document so that its unchanged lists and maps in brackets keep their form. */
export class YamlForm {
  private readonly before: string;
  /** The values of collections in brackets. */
  private readonly flows = new Map<Node, string>();

  constructor(
    private readonly source: string,
    private readonly document: Document,
  ) {
    this.before = document.toString(STYLE);
    visit(document, {
      Collection: (_, node) => {
        if (node.flow && node.range && !node.tag) this.flows.set(node, JSON.stringify(node));
      },
    });
  }

  /** The text of the document as it is now. @throws Error if an alias has lost its anchor */
  text(): string {
    const plain = this.document.toString(STYLE);
    if (plain === this.before) return this.source;
    const restored = this.restored(plain);
    const isSame = equal(valueOf(restored), valueOf(plain));
    return this.withLineEnds(isSame ? restored : plain);
  }

  private restored(plain: string): string {
    let mark = "flow";
    while (plain.includes(mark)) mark += "_";
    const parts: string[] = [];
    visit(this.document, {
      Collection: (_, node) => {
        if (this.flows.get(node) !== JSON.stringify(node)) return undefined;
        const [start, end, after] = node.range!; // the document was parsed
        const stand = new Scalar(`${mark}${parts.length}.`);
        parts.push(this.source.slice(start, end));
        const { commentBefore, spaceBefore, anchor } = node;
        const [, comment] = /#(.*)/.exec(this.source.slice(end, after)) ?? [];
        return Object.assign(stand, { commentBefore, spaceBefore, comment, ...(anchor && { anchor }) });
      },
    });
    const [start = "", ...stood] = this.document.toString(STYLE).split(mark);
    const restored = stood.map((text) => {
      const end = text.indexOf(".");
      return parts[Number(text.slice(0, end))]! + text.slice(end + 1);
    });
    return start + restored.join("");
  }

  private withLineEnds(text: string): string {
    return this.source.includes("\r\n") ? text.replaceAll(/\r?\n/g, "\r\n") : text;
  }
}

const valueOf = (text: string): unknown => {
  const document = parseDocument(text, { stringKeys: true });
  return document.errors.length === 0 ? (document.toJS() as unknown) : undefined;
};

/** A document with copies in place of its aliases. */
export function withoutAliases(source: string): Document {
  const document = parseDocument(source, { stringKeys: true });
  visit(document, { Alias: (_, alias) => alias.resolve(document)?.clone() as Node | undefined });
  visit(document, { Value: (_, node) => void delete node.anchor });
  return document;
}

/** The text of a document without a source. */
export const textOfNew = (document: Document): string => document.toString(STYLE);
