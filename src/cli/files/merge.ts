import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Scalar,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { equal } from "./changes";
import { isFields, nameOfFunction, Secret, type Fields } from "./kinds";
import { escaped, expanded } from "./resolve";
import { isAbsolutePath } from "./write-files";

/** A text that may be in a file of its own. */
export class FileText {
  constructor(
    readonly text: string,
    /** Path of its file, from that of the record, if it is long and has no file yet. */
    readonly path: string,
  ) {}
}

/** A text in which a file may name environment variables. */
export class Expandable {
  constructor(readonly text: string) {}
}

/** A secret, with the variable that a file names unless it names another. */
export class NamedSecret {
  constructor(readonly variable: string) {}
}

/** Longest text that is written into a YAML file, if it has one line. */
const MAX_INLINE = 120;

/** Changes a YAML document so that it has other values, and leaves comments and the form of unchanged values. */
export class Merge {
  /** Texts of files, by their paths from that of the record. */
  readonly texts = new Map<string, string>();

  constructor(
    private readonly document: Document,
    private readonly environment: Readonly<Record<string, string | undefined>>,
  ) {}

  /** Whether the order of fields counts: in functions. */
  private inOrder = false;

  /** @param node the present one @returns the node with the value, the same one if possible */
  node(node: unknown, value: unknown): Node {
    if (value instanceof FileText) return this.text(node, value);
    if (value instanceof NamedSecret)
      return isScalar(node) && /^\$\{\w+\}$/.test(String(node.value))
        ? node
        : this.made(`\${${value.variable}}`);
    if (value instanceof Expandable) {
      const isSame = isScalar(node) && expanded(String(node.value), this.environment) === value.text;
      return isSame ? node : this.scalar(node, escaped(value.text));
    }
    if (isAlias(node)) {
      const same = node.resolve(this.document);
      return same && equal(this.plain(same), plainOf(value), this.inOrder) ? node : this.made(value);
    }
    if (isFields(value)) return isMap(node) ? this.map(node, value) : this.made(value);
    if (Array.isArray(value)) return isSeq(node) ? this.list(node, value) : this.made(value);
    return this.scalar(node, value);
  }

  private text(node: unknown, { text, path }: FileText): Node {
    const file = isMap(node) ? node.get("file") : undefined;
    if (typeof file === "string" && !isAbsolutePath(file)) {
      this.texts.set(file, text);
      return node as Node;
    }
    if (isScalar(node) || (!text.includes("\n") && text.length <= MAX_INLINE)) return this.scalar(node, text);
    this.texts.set(path, text);
    return this.document.createNode({ file: path });
  }

  private scalar(node: unknown, value: unknown): Node {
    if (!isScalar(node)) return this.made(value);
    if (node.value === value) return node;
    const made = new Scalar(value);
    const { comment, commentBefore, spaceBefore, anchor } = node;
    return Object.assign(made, {
      comment,
      commentBefore,
      spaceBefore,
      ...(anchor !== undefined && { anchor }),
    });
  }

  private map(node: YAMLMap, value: Fields): Node {
    node.items = node.items.filter(({ key }) => Object.hasOwn(value, nameOf(key)));
    const pairs = new Map((node.items as Pair[]).map((pair) => [nameOf(pair.key), pair]));
    for (const [name, one] of Object.entries(value)) {
      const pair = pairs.get(name);
      const outside = this.inOrder;
      this.inOrder ||= name === "functions";
      if (pair) pair.value = this.node(pair.value, one);
      this.inOrder = outside;
      if (!pair)
        node.items.push(this.document.createPair(name, this.made(one)) as (typeof node.items)[number]);
    }
    if (this.inOrder) {
      const names = Object.keys(value);
      node.items.sort((one, other) => names.indexOf(nameOf(one.key)) - names.indexOf(nameOf(other.key)));
    }
    return node;
  }

  /** Entries keep their comments if they are the same, or have the same name. */
  private list(node: YAMLSeq, value: readonly unknown[]): Node {
    const left = [...node.items];
    const take = (matches: (plain: unknown) => boolean) => {
      const index = left.findIndex((item) => matches(this.plain(item)));
      return index < 0 ? undefined : left.splice(index, 1)[0];
    };
    const same = value.map((one) => take((plain) => equal(plain, plainOf(one))));
    const alike = value.map((one, index) => same[index] ?? take((plain) => isAlike(plain, one)));
    node.items = value.map((one, index) => this.node(alike[index], one));
    return node;
  }

  private made(value: unknown): Node {
    if (value instanceof FileText || value instanceof Expandable || value instanceof NamedSecret)
      return this.node(undefined, value);
    if (Array.isArray(value)) {
      const list = this.document.createNode([]) as YAMLSeq;
      list.items = value.map((one) => this.made(one));
      return list;
    }
    if (!isFields(value)) return this.document.createNode(value);
    const map = this.document.createNode({}) as YAMLMap;
    for (const [name, one] of Object.entries(value))
      map.items.push(this.document.createPair(name, this.made(one)) as (typeof map.items)[number]);
    return map;
  }

  private plain(node: unknown): unknown {
    return (node as Node).toJS(this.document) as unknown;
  }
}

const nameOf = (key: unknown): string => String(isScalar(key) ? key.value : key);

const isAlike = (one: unknown, other: unknown): boolean =>
  isFields(one) &&
  isFields(other) &&
  nameOfFunction(one) !== "" &&
  nameOfFunction(one) === nameOfFunction(other);

/** The value as a file without references has it. */
export function plainOf(value: unknown): unknown {
  if (value instanceof FileText || value instanceof Expandable) return value.text;
  if (value instanceof NamedSecret || value instanceof Secret) return undefined;
  if (Array.isArray(value)) return value.map(plainOf);
  return isFields(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plainOf(one)]))
    : value;
}
