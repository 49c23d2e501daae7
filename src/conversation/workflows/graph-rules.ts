import type { KeptTimes } from "../../platform/database/kept-times";
import type { Problem } from "../../platform/errors";
import { problemsOfEdge, problemsOfNode } from "./part-rules";
import type { WorkflowEdgeInput } from "./workflow-edges";
import type { WorkflowNodeInput } from "./workflow-nodes";

/** A node of another service has times. */
export interface GraphNode extends WorkflowNodeInput, KeptTimes {
  /** Id of an existing node, which stays, or of one of another service. */
  readonly id?: string | null;
  /** By which edges of the same graph name the node. */
  readonly ref?: string | null;
}

/** An edge whose ends are ids or names of nodes of the graph. */
export interface GraphEdge extends WorkflowEdgeInput, KeptTimes {
  readonly id?: string | null;
}

/** All nodes and edges of a workflow. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** The columns of parts of a graph, with the defaults of fields that are left out. */
export const withDefaults = {
  node: (node: WorkflowNodeInput) => ({
    type: node.type,
    name: node.name,
    assistantId: node.assistantId ?? null,
    instructions: node.instructions ?? null,
    functionName: node.functionName ?? null,
    arguments: node.arguments ?? {},
    resultVariable: node.resultVariable ?? null,
    message: node.message ?? null,
    endReason: node.endReason ?? null,
    metadata: node.metadata ?? {},
  }),
  edge: (edge: WorkflowEdgeInput) => ({
    fromNodeId: edge.fromNodeId,
    toNodeId: edge.toNodeId,
    kind: edge.kind ?? "DEFAULT",
    rank: edge.rank ?? 0,
    description: edge.description ?? null,
    collects: edge.collects ?? [],
    variable: edge.variable ?? null,
    operator: edge.operator ?? null,
    value: edge.value ?? null,
    functionName: edge.functionName ?? null,
  }),
};

/** Missing, invalid and repeated values of a graph. */
export function problemsOfGraph({ nodes, edges }: Graph): Problem[] {
  const names = nodes.flatMap(({ id, ref }, index) => [
    { path: `nodes.${index}.id`, name: id },
    { path: `nodes.${index}.ref`, name: ref },
  ]);
  return [
    ...nodes.flatMap((node, index) => below(`nodes.${index}`, problemsOfNode(node))),
    ...edges.flatMap((edge, index) => below(`edges.${index}`, problemsOfEdge(withDefaults.edge(edge)))),
    ...repeated(names, "must differ from the other ids and refs of nodes"),
    ...repeated(
      edges.map(({ id }, index) => ({ path: `edges.${index}.id`, name: id })),
      "must be unique",
    ),
  ];
}

const below = (place: string, problems: readonly Problem[]): Problem[] =>
  problems.map(({ path, message }) => ({ path: `${place}.${path}`, message }));

/** Problems of names that come a second time. */
export function repeated(
  given: readonly { readonly path: string; readonly name?: string | null | undefined }[],
  message: string,
): Problem[] {
  const known = new Set<string>();
  return given.flatMap(({ path, name }) => {
    if (name == null) return [];
    const isKnown = known.has(name);
    known.add(name);
    return isKnown ? [{ path, message }] : [];
  });
}
