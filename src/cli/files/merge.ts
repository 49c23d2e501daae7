import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Scalar,
  visit,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { areFunctions, equal } from "./changes";
import { keepFirstComment, leaveComment } from "./comments";
import { Attachment, FileText } from "./beside";
import { isFields, nameOfFunction, serversOf, type Fields } from "./kinds";
import { conflictIn } from "./merge-conflict";
import { NamedSecret } from "./secret-names";
import { MERGE_KEY } from "./yaml-file";
import { canGive, escaped, expanded, namesVariables } from "./variables";

/** Approximate length in characters up to which a collection stays in brackets. */
const MAX_FLOW = 120;

/** A text in which a file may name environment variables. */
export class Expandable {
  constructor(
    readonly text: string,
    /** Name of its field. */
    readonly field: string,
  ) {}
}

/** Writes new values into a YAML document, and keeps comments and the form of unchanged values. */
export class Merge {
  /** Texts of the file with variables, and their values. */
  private readonly expansions: ReadonlyMap<string, string>;

  constructor(
    private readonly document: Document,
    private readonly environment: Readonly<Record<string, string | undefined>>,
    /** Called for each text with variables that is kept although it does not produce the server's value. */
    private readonly keep: (node: Node, field: string) => void,
  ) {
    const texts = new Map<string, string>();
    visit(document, {
      Scalar: (_, { value }) => {
        const given = typeof value === "string" && namesVariables(value) && expanded(value, environment);
        if (typeof given === "string") texts.set(given, value as string);
      },
    });
    this.expansions = texts;
  }

  /** Fields that lead to the present value. */
  private readonly path: string[] = [];

  /** Whether the order of fields counts: in functions. */
  private get inOrder(): boolean {
    return areFunctions(this.path.slice(0, 2));
  }

  /** @param node the present one @returns the node with the value, the same one if possible */
  node(node: unknown, value: unknown): Node {
    const old = isAlias(node) ? node.resolve(this.document) : node;
    if (isNode(old) && this.matches(this.plain(old), value)) return node as Node;
    if (value instanceof Expandable && isScalar(old) && namesVariables(String(old.value))) {
      this.keep(old, value.field);
      return node as Node;
    }
    return this.changed(isAlias(node) && isNode(old) ? copyOf(old) : node, value);
  }

  private changed(node: unknown, value: unknown): Node {
    if (value instanceof FileText)
      return value.place === undefined ? this.scalar(node, value.text) : this.made(value);
    if (value instanceof Attachment) return this.made(value);
    if (value instanceof NamedSecret) return this.scalar(node, `\${${value.variable}}`);
    if (value instanceof Expandable)
      return this.scalar(node, this.expansions.get(value.text) ?? escaped(value.text));
    if (isFields(value)) return isMap(node) ? this.map(node, value) : this.made(value);
    if (Array.isArray(value)) return isSeq(node) ? this.list(node, value) : this.made(value);
    return this.scalar(node, value);
  }

  /** Whether a value of a file stands for a value of the server. */
  private matches(plain: unknown, value: unknown): boolean {
    if (value instanceof FileText)
      return value.place === undefined ? plain === value.text : isFields(plain) && plain.file === value.place;
    if (value instanceof Attachment)
      return (isFields(plain) ? plain.file : plain) === value.place && equal(plain, value.entry);
    if (value instanceof NamedSecret) return /^\$\{\w+\}$/.test(String(plain));
    if (value instanceof Expandable)
      return typeof plain === "string" && canGive(plain, value.text, this.environment);
    if (Array.isArray(value))
      return (
        Array.isArray(plain) &&
        plain.length === value.length &&
        value.every((one, index) => this.matches(plain[index], one))
      );
    if (!isFields(value)) return plain === value;
    if (!isFields(plain)) return false;
    const present = Object.keys(plain);
    const names = Object.keys(value);
    return (
      names.length === present.length &&
      names.every(
        (name, index) =>
          (this.inOrder ? present[index] === name : Object.hasOwn(plain, name)) &&
          this.inside(name, () => this.matches(plain[name], value[name])),
      )
    );
  }

  /** Reads or changes a field. */
  private inside<T>(name: string, work: () => T): T {
    this.path.push(name);
    try {
      return work();
    } finally {
      this.path.pop();
    }
  }

  private scalar(node: unknown, value: unknown): Node {
    if (!isScalar(node)) return this.made(value);
    if (node.value === value) return node;
    const made = scalarOf(value);
    const { comment, commentBefore, spaceBefore, anchor } = node;
    return Object.assign(made, {
      comment,
      commentBefore,
      spaceBefore,
      ...(anchor !== undefined && { anchor }),
    });
  }

  /** In the order of the file, so that an alias is compared with what its anchor has become. */
  private map(node: YAMLMap, value: Fields): Node {
    const before = JSON.stringify(node);
    node.items = node.items.filter(({ key }) => Object.hasOwn(value, nameOf(key)));
    const pairs = node.items as Pair[];
    const known = new Set(pairs.map(({ key }) => nameOf(key)));
    for (const pair of pairs) {
      const name = nameOf(pair.key);
      pair.value = this.inside(name, () => this.node(pair.value, value[name]));
    }
    const names = Object.keys(value);
    const added = names.filter((name) => !known.has(name)).map((name) => this.pair(name, value[name]));
    pairs.push(...added);
    if (this.inOrder)
      pairs.sort((one, other) => names.indexOf(nameOf(one.key)) - names.indexOf(nameOf(other.key)));
    else if (known.size > 0) leaveComment(node, added[0]?.key as Node | undefined);
    return inForm(node, before);
  }

  /** Entries keep their comments if they are the same, or have the same name. */
  private list(node: YAMLSeq, value: readonly unknown[]): Node {
    const before = JSON.stringify(node);
    const left = [...node.items];
    const take = (matches: (plain: unknown) => boolean) => {
      const index = left.findIndex((item) => matches(this.plain(item)));
      return index < 0 ? undefined : left.splice(index, 1)[0];
    };
    const same = value.map((one) => take((plain) => this.matches(plain, one)));
    const alike = value.map((one, index) => same[index] ?? take((plain) => isAlike(plain, one)));
    const renamed = value.map(
      (one, index) => alike[index] ?? take((plain) => this.sharesAddress(plain, one)),
    );
    const nodes = value.map((one, index) => this.node(renamed[index], one));
    keepFirstComment(node, node.items[0], nodes);
    node.items = nodes;
    const last = renamed.findLastIndex((one) => one !== undefined);
    if (last >= 0) leaveComment(node, nodes[last + 1]);
    return inForm(node, before);
  }

  /** A function that got another name, whose address must not take the place of the variables in the file. */
  private sharesAddress(plain: unknown, value: unknown): boolean {
    if (!isFields(plain) || !isFields(value)) return false;
    const texts = serversOf(plain).map(({ fields, url }) => String(fields[url]));
    return serversOf(value).some(
      ({ fields, url }) =>
        fields[url] instanceof Expandable &&
        texts.some((text) => /^https?:\/\/[^/$]/.test(text) && this.matches(text, fields[url])),
    );
  }

  private made(value: unknown): Node {
    if (value instanceof FileText)
      return value.place === undefined
        ? scalarOf(value.text)
        : this.document.createNode({ file: value.place });
    if (value instanceof Attachment) return this.document.createNode(value.entry);
    if (value instanceof Expandable || value instanceof NamedSecret) return this.node(undefined, value);
    if (Array.isArray(value)) {
      const list = this.document.createNode([]) as YAMLSeq;
      list.items = value.map((one) => this.made(one));
      return list;
    }
    if (!isFields(value)) return scalarOf(value);
    const map = this.document.createNode({}) as YAMLMap;
    for (const [name, one] of Object.entries(value))
      map.items.push(this.pair(name, one) as (typeof map.items)[number]);
    return map;
  }

  private pair(name: string, value: unknown): Pair {
    const key = this.document.createNode(name) as Scalar;
    if (name === MERGE_KEY) key.type = Scalar.QUOTE_DOUBLE;
    return this.document.createPair(key, this.made(value));
  }

  private plain(node: unknown): unknown {
    return (node as Node).toJS(this.document) as unknown;
  }
}

/** A text with a merge conflict is written on one line: over lines, no command would read it. */
function scalarOf(value: unknown): Scalar {
  const scalar = new Scalar(value);
  if (typeof value === "string" && conflictIn(value, true)) scalar.type = Scalar.QUOTE_DOUBLE;
  return scalar;
}

/** A copy of the target of an alias, which may then get other values. */
function copyOf(node: Node): Node {
  const copy = node.clone() as Node;
  visit(copy, { Value: (_, one) => void delete one.anchor });
  return copy;
}

const nameOf = (key: unknown): string => String(isScalar(key) ? key.value : key);

const isAlike = (one: unknown, other: unknown): boolean =>
  isFields(one) &&
  isFields(other) &&
  nameOfFunction(one) !== "" &&
  nameOfFunction(one) === nameOfFunction(other);

/** A collection in brackets that was empty, or has become long, gets one line for each entry. */
function inForm(node: YAMLMap | YAMLSeq, before: string): Node {
  const now = JSON.stringify(node);
  const wasEmpty = before === "{}" || before === "[]";
  if (now !== before && node.items.length > 0 && (wasEmpty || now.length > MAX_FLOW)) node.flow = false;
  return node;
}
