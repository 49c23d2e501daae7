import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  Scalar,
  visit,
  type Alias,
  type Document,
  type Node,
  type YAMLError,
} from "yaml";
import { placeComments } from "./comments";
import { isFields, type Fields, type Kind } from "./kinds";
import { conflictIn, LEFT_CONFLICT } from "./merge-conflict";

export type Path = readonly (string | number)[];

/** In YAML 1.1, the name of other fields to take over; in quotes, a name like others. */
export const MERGE_KEY = "<<";

/** A sentence about a value of a file. */
export interface Remark {
  readonly at: Path;
  readonly message: string;
}

/** Words a problem of the YAML library for the author of the file. */
function meaning({ code, message, pos: [offset] }: YAMLError, text: string): string {
  if (code === "DUPLICATE_KEY")
    return `The field ${/^[^:\n]*/.exec(text.slice(offset))![0].trim()} occurs twice.`;
  if (code === "MULTIPLE_DOCS") return "A file must contain one document, with no others after ---.";
  if (code === "NON_STRING_KEY")
    return "The name of a field must be a text, and not a list, fields or an alias.";
  if (/call stack/.test(message)) return "The values are nested too deeply.";
  return withPeriod(message.replace(/closing ["']quote/, "closing quotation mark"));
}

/** A YAML file with a record. */
export class YamlFile {
  private readonly lines = new LineCounter();
  private firstAlias: Alias | undefined;
  readonly document: Document.Parsed;
  /** The fields of the file; a file with problems has none. */
  readonly fields: Fields = {};
  /** Problems that prevent reading the file. */
  readonly problems: readonly string[];
  /** The text after the byte order mark that it may have. */
  readonly text: string;
  private readonly mark: string;

  constructor(
    /** As messages name it. */
    readonly path: string,
    readonly kind: Kind,
    content: string,
  ) {
    const text = content.replace(/^\uFEFF/, "");
    this.text = text;
    this.mark = content.slice(0, content.length - text.length);
    this.document = parseDocument(text, {
      lineCounter: this.lines,
      prettyErrors: false,
      stringKeys: true,
      resolveKnownTags: false,
    });
    placeComments(this.document, text);
    const conflict = conflictIn(text, true);
    if (conflict) {
      this.problems = [`${path}:${conflict.line}:${conflict.column}: ${LEFT_CONFLICT}`];
      return; // all other problems are of its markers
    }
    const { errors, warnings } = this.document;
    const found = [...errors, ...warnings].map((error) => ({ error, message: meaning(error, text) }));
    // One wrong indentation is a problem of each line after it.
    const first = found.filter(
      ({ message }, index) => found.findIndex((one) => one.message === message) === index,
    );
    this.problems = [
      ...first.map(({ error, message }) => this.problem(error.pos[0], message)),
      ...this.problemsOfReferences(),
    ];
    if (this.problems.length > 0) return;
    try {
      const fields: unknown = this.document.toJS();
      if (isFields(fields)) this.fields = fields;
      else this.problems = [this.problem(0, "The file must have fields, such as key and name.")];
    } catch (error) {
      this.problems = [this.problem(offsetOf(this.firstAlias), withPeriod((error as Error).message))]; // too many
    }
  }

  /** The content of the file with another text. */
  withText(text: string): string {
    return this.mark + text;
  }

  get key(): string {
    return String(this.fields.key);
  }

  /** A line about the value at a path, or about its name. If there is none, it is about the fields without it. */
  problemAt(path: Path, message: string, about: "value" | "name" = "value"): string {
    let node: unknown = this.document.contents;
    let place: unknown = node;
    for (const name of path) {
      const found = entryOf(isAlias(node) ? node.resolve(this.document) : node, name);
      if (!found) break;
      node = found.value;
      place = about === "name" || !isNode(node) ? found.name : node;
    }
    return this.problem(offsetOf(place), message);
  }

  /** The value at a path as the file writes it; undefined if it is no plain value. */
  sourceAt(path: Path): string | undefined {
    const node = this.document.getIn(path, true);
    return isScalar(node) ? node.source : undefined;
  }

  /** A line about a node of the document. */
  problemOf(node: Node, message: string): string {
    return this.problem(offsetOf(node), message);
  }

  /** Warnings about numbers below a field that are written in another form, such as a telephone number or a postcode. */
  warningsOfNumbers(field: string): string[] {
    const warnings: string[] = [];
    const node = this.document.get(field, true);
    if (!isMap(node)) return warnings;
    visit(node, {
      Scalar: (place, scalar) => {
        const { value, source } = scalar;
        if (place === "key" || typeof value !== "number" || source === undefined || source === String(value))
          return;
        const message = `Warning: ${source} is read as the number ${value}. Write it in quotes if it is a text: "${source}".`;
        warnings.push(this.problemOf(scalar, message));
      },
    });
    return warnings;
  }

  private problemsOfReferences(): string[] {
    const problems: string[] = [];
    visit(this.document, {
      Pair: (_, { key }) => {
        if (isScalar(key) && key.value === MERGE_KEY && key.type === Scalar.PLAIN)
          problems.push(
            this.problem(
              offsetOf(key),
              "A merge key (<<) is not part of YAML 1.2: repeat the fields, or use an alias for a whole value.",
            ),
          );
      },
      Alias: (_, alias, parents) => {
        this.firstAlias ??= alias;
        const value = alias.resolve(this.document);
        if (!value)
          problems.push(
            this.problem(
              offsetOf(alias),
              `No value before *${alias.source} has the anchor &${alias.source}.`,
            ),
          );
        else if (parents.includes(value))
          problems.push(
            this.problem(offsetOf(alias), `*${alias.source} stands for a value that contains it.`),
          );
      },
    });
    return problems;
  }

  private problem(offset: number, message: string): string {
    const { line, col } = this.lines.linePos(offset);
    return `${this.path}:${line || 1}:${col || 1}: ${message}`;
  }
}

/** A node and its name in the fields or the list that it is part of. */
function entryOf(parent: unknown, name: string | number): { name: unknown; value: unknown } | undefined {
  if (isSeq(parent)) {
    const value = parent.items[Number(name)];
    return value === undefined ? undefined : { name: value, value };
  }
  const pair = isMap(parent)
    ? parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(name))
    : undefined;
  return pair && { name: pair.key, value: pair.value };
}

const offsetOf = (node: unknown): number => (isNode(node) ? (node.range?.[0] ?? 0) : 0);

const withPeriod = (message: string): string => message.replace(/\.?$/, ".");
