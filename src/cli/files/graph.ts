import { equal } from "./changes";
import { slugOf } from "./keys";
import type { Fields } from "./kinds";

/** A node or edge of the server. */
export interface Part {
  readonly id: string;
  /** The fields of a file that differ from their defaults; those of an edge have the ids of its nodes. */
  readonly fields: Fields;
}

/** A node of the server. Its assistant may be deleted, or have no key by which a file could name it. */
interface NodePart extends Part {
  readonly assistantId: string | null;
}

/** The graph of a stored workflow, nodes oldest first. */
export interface Graph {
  readonly nodes: readonly NodePart[];
  readonly edges: readonly Part[];
}

/** The stored graph, and the names of its nodes in the file. */
export interface NamedGraph {
  readonly graph: Graph;
  readonly names: ReadonlyMap<string, string>;
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

/** Nodes of a file by their names in the file. */
export type Nodes = Readonly<Record<string, Fields>>;

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
