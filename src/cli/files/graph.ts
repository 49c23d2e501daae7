import { equal } from "./changes";
import { slugOf } from "./keys";
import type { Fields } from "./kinds";

/** A node or edge of the server. */
export interface Part {
  readonly id: string;
  /** The fields of a file that differ from their defaults; those of an edge have the ids of its nodes. */
  readonly fields: Fields;
}

/** The graph of a stored workflow, nodes oldest first. */
export interface Graph {
  readonly nodes: readonly Part[];
  readonly edges: readonly Part[];
}

/** Values of fields that a file may leave out. */
const NODE_DEFAULTS: Fields = { arguments: {}, metadata: {} };
const EDGE_DEFAULTS: Fields = { kind: "DEFAULT", rank: 0, collects: [] };

const withoutDefaults = (fields: Fields, defaults: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => value !== null && !equal(value, defaults[name] ?? null)),
  );

export const shortNode = (node: Fields): Fields => withoutDefaults(node, NODE_DEFAULTS);
export const shortEdge = (edge: Fields): Fields => withoutDefaults(edge, EDGE_DEFAULTS);

/** All fields of a part, so that those that a file leaves out get their defaults. */
export const wholeNode = (node: Fields, names: readonly string[]): Fields =>
  whole(node, NODE_DEFAULTS, names);
export const wholeEdge = (edge: Fields, names: readonly string[]): Fields =>
  whole(edge, EDGE_DEFAULTS, names);

const whole = (fields: Fields, defaults: Fields, names: readonly string[]): Fields => ({
  ...Object.fromEntries(names.map((name) => [name, null])),
  ...defaults,
  ...fields,
});

/** Nodes of a file by their names in the file. */
type Nodes = Readonly<Record<string, Fields>>;

/**
 * The names that a file has for the nodes of the server: a node with the same name first, then one of the same type, so
 * that a node that was renamed keeps its id. Others get a name of their own.
 * @returns the names by the ids of the nodes
 */
export function namesOfNodes({ nodes }: Graph, local: Nodes): Map<string, string> {
  const names = new Map<string, string>();
  const left = new Set(Object.keys(local));
  for (const field of ["name", "type"])
    for (const { id, fields } of nodes) {
      if (names.has(id)) continue;
      const name = [...left].find((one) => local[one]?.[field] === fields[field]);
      if (name === undefined) continue;
      left.delete(name);
      names.set(id, name);
    }
  const taken = new Set([...Object.keys(local)]);
  for (const { id, fields } of nodes) {
    if (names.has(id)) continue;
    const name = slugOf(String(fields.name), "node", taken);
    taken.add(name);
    names.set(id, name);
  }
  return names;
}

/** The nodes and edges as a file has them. @param names of the nodes, by their ids */
export function fieldsOfGraph({ nodes, edges }: Graph, names: ReadonlyMap<string, string>): Fields {
  return {
    nodes: Object.fromEntries(nodes.map(({ id, fields }) => [names.get(id)!, fields])),
    edges: edges.map(({ fields }) => withEnds(fields, names)),
  };
}

/** An edge of the server with the names of its nodes. */
export const withEnds = ({ from, to, ...fields }: Fields, names: ReadonlyMap<string, string>): Fields => ({
  from: names.get(String(from)),
  to: names.get(String(to)),
  ...fields,
});
