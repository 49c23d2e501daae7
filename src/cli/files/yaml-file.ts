import { isCollection, isMap, isNode, isScalar, LineCounter, parseDocument, type Document } from "yaml";
import { isFields, type Fields, type Kind } from "./kinds";

export type Path = readonly (string | number)[];

const MESSAGES: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "The field is there twice.",
  MULTIPLE_DOCS: "A file has one document, without further ones after ---.",
};

/** A YAML file with a record. */
export class YamlFile {
  private readonly lines = new LineCounter();
  readonly document: Document.Parsed;
  /** The fields of the file; a file with problems has none. */
  readonly fields: Fields = {};
  /** Problems that prevent reading the file. */
  readonly problems: readonly string[];

  constructor(
    /** As messages name it. */
    readonly path: string,
    readonly kind: Kind,
    text: string,
  ) {
    this.document = parseDocument(text, { lineCounter: this.lines, prettyErrors: false, stringKeys: true });
    const { errors, warnings } = this.document;
    this.problems = [...errors, ...warnings].map(({ code, message, pos: [offset] }) =>
      this.problem(offset, MESSAGES[code] ?? `${message.replace(/\.?$/, ".")}`),
    );
    if (this.problems.length > 0) return;
    try {
      const fields: unknown = this.document.toJS();
      if (isFields(fields)) this.fields = fields;
      else this.problems = [this.problem(0, "The file must have fields, such as key and name.")];
    } catch (error) {
      this.problems = [this.problem(0, `${(error as Error).message.replace(/\.?$/, ".")}`)]; // too many aliases
    }
  }

  get key(): string {
    return String(this.fields.key);
  }

  /** A line about the value at a path, or about its name. */
  problemAt(path: Path, message: string, about: "value" | "name" = "value"): string {
    for (let length = path.length; length > 0; length--) {
      const offset = this.offsetOf(path.slice(0, length), about);
      if (offset !== undefined) return this.problem(offset, message);
    }
    return this.problem(this.document.contents?.range[0] ?? 0, message);
  }

  private offsetOf(path: Path, about: "value" | "name"): number | undefined {
    const parent = path.length > 1 ? this.document.getIn(path.slice(0, -1), true) : this.document.contents;
    if (!isCollection(parent)) return undefined;
    const last = path.at(-1);
    const pair = isMap(parent)
      ? parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(last))
      : undefined;
    const node =
      about === "name" || !isNode(pair?.value) ? (pair?.key ?? parent.get(last, true)) : pair.value;
    return isNode(node) ? node.range?.[0] : undefined;
  }

  private problem(offset: number, message: string): string {
    const { line, col } = this.lines.linePos(offset);
    return `${this.path}:${line || 1}:${col || 1}: ${message}`;
  }
}
