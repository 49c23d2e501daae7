import { equal } from "./changes";
import { RequestError } from "./connection";
import { shortEdge, shortNode, withEnds, type NamedGraph, type Nodes, type Part } from "./graph";
import { textOf, type Fields } from "./kinds";
import type { Path } from "./yaml-file";

/** A node or edge to send: an existing one has an id, a new node the name by which edges of the input refer to it. */
type Sent = Fields & { readonly id?: string; readonly ref?: string };

/** The ids of a graph, in the order of the server. */
export interface Stored {
  readonly nodes: readonly { readonly id: string }[];
  readonly edges: readonly { readonly id: string }[];
}

/** The graph of a file as the server gets it. */
export class GraphChange {
  readonly input: { readonly nodes: readonly Sent[]; readonly edges: readonly Sent[] };
  private readonly nodeNames: readonly string[];

  /**
   * @param edges if the file leaves them out, those between nodes that stay remain
   * @param idOf the id of an assistant, by its key
   */
  constructor(
    nodes: Nodes,
    edges: readonly Fields[] | undefined,
    private readonly known: NamedGraph,
    private readonly idOf: (assistant: string) => string,
  ) {
    this.nodeNames = Object.keys(nodes);
    const sent = Object.entries(nodes).map(([name, node], index) =>
      this.node(name, node, `new node ${index}`),
    );
    this.input = { nodes: sent, edges: edges ? this.edges(edges, sent) : this.edgesBetween(sent) };
  }

  private node(name: string, { assistant, ...fields }: Fields, ref: string): Sent {
    const { graph, names } = this.known;
    const old = graph.nodes.find(({ id }) => names.get(id) === name);
    const isSame = old && equal(old.fields, shortNode({ assistant, ...fields }));
    const assistantId = assistant == null ? null : this.idOf(textOf(assistant));
    return {
      ...fields,
      assistantId: isSame ? old.assistantId : assistantId,
      ...(old ? { id: old.id } : { ref }),
    };
  }

  /** Edges that are equal to stored ones, or else connect the same nodes, keep their ids. */
  private edges(wanted: readonly Fields[], nodes: readonly Sent[]): Sent[] {
    const { graph, names } = this.known;
    const left = [...graph.edges];
    const same = wanted.map((edge) =>
      take(left, (old) => equal(withEnds(old.fields, names), shortEdge(edge))),
    );
    return wanted.map(({ from, to, ...fields }, index) => {
      const [fromNodeId, toNodeId] = [from, to].map((end) => {
        const { id, ref } = nodes[this.nodeNames.indexOf(String(end))]!; // names of nodes were checked
        return id ?? ref;
      });
      const old =
        same[index] ?? take(left, ({ fields }) => fields.from === fromNodeId && fields.to === toNodeId);
      return { ...fields, fromNodeId, toNodeId, ...(old && { id: old.id }) };
    });
  }

  private edgesBetween(nodes: readonly Sent[]): Sent[] {
    const kept = new Set<unknown>(nodes.map(({ id }) => id));
    return this.known.graph.edges
      .filter(({ fields: { from, to } }) => kept.has(from) && kept.has(to))
      .map(({ id, fields: { from, to, ...fields } }) => ({ ...fields, id, fromNodeId: from, toNodeId: to }));
  }

  /** Places in the file of the nodes and edges that the server has stored, by their ids. It adds new ones in the given order. */
  placesIn(stored: Stored): Map<string, Path> {
    const { nodes, edges } = this.input;
    const byRank = edges
      .map((edge, index) => ({ id: edge.id, rank: Number(edge.rank ?? 0), place: ["edges", index] }))
      .sort((a, b) => a.rank - b.rank);
    const named = nodes.map(({ id }, index) => ({ id, place: ["nodes", this.nodeNames[index]!] }));
    return new Map([...placed(byRank, stored.edges), ...placed(named, stored.nodes)]);
  }

  /** An error of the server with the places in the file of the nodes and edges that it is about. */
  located({ message, code, details }: RequestError): RequestError {
    const found = details.map(({ path, message }) => {
      const [, list, index, rest] = /^input\.(nodes|edges)\.(\d+)\.(.*)$/.exec(path) ?? [];
      if (list === undefined) return { path, message };
      const name = list === "nodes" ? this.nodeNames[Number(index)]! : Number(index);
      return { path: rest!, message, at: [list, name] };
    });
    return new RequestError(message, code, found);
  }
}

function placed(
  sent: readonly { readonly id: string | undefined; readonly place: Path }[],
  stored: readonly { readonly id: string }[],
): [string, Path][] {
  const known = new Set(sent.map(({ id }) => id));
  const fresh = stored.filter(({ id }) => !known.has(id));
  return sent.flatMap(({ id = fresh.shift()?.id, place }) => (id === undefined ? [] : [[id, place]]));
}

/** Removes the first match from a list. */
function take(list: Part[], matches: (one: Part) => boolean): Part | undefined {
  const index = list.findIndex(matches);
  return index < 0 ? undefined : list.splice(index, 1)[0];
}
