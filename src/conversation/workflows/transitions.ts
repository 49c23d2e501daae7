import { fill } from "../functions/variables";
import type { ModelTool } from "../../platform/ports/text-model";
import { edgesFrom, nodeOf, type Flow, type WorkflowEdge } from "./flow";
import type { Sources } from "./route";

/** A way on that the model may choose, and the tool by which it does. */
export interface Transition {
  readonly edge: WorkflowEdge;
  readonly tool: ModelTool;
}

const NAME_LENGTH = 50;

/** The ways on from a node among which the model chooses. A tool is called after the node that it leads to. */
export function transitionsOf(flow: Flow, nodeId: string, sources: Sources = []): Transition[] {
  const names = new Set<string>();
  return edgesFrom(flow, nodeId)
    .filter(({ kind }) => kind === "MODEL")
    .map((edge) => {
      const name = unused(`go_to_${slug(nodeOf(flow, edge.toNodeId)?.name ?? "")}`, names);
      return { edge, tool: toolOf(name, edge, sources) };
    });
}

function toolOf(name: string, { description, collects }: WorkflowEdge, sources: Sources): ModelTool {
  const properties = Object.fromEntries(collects.map((variable) => [variable, { type: "string" }]));
  return {
    name,
    description: `Moves the conversation on. Use it when: ${fill(description ?? "", sources)}`,
    parameters: { type: "object", properties, required: [...collects] },
  };
}

const slug = (name: string): string =>
  name
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
    .join("_")
    .slice(0, NAME_LENGTH) || "next";

function unused(wanted: string, names: Set<string>): string {
  let name = wanted;
  for (let count = 2; names.has(name); count++) name = `${wanted}_${count}`;
  names.add(name);
  return name;
}

/** The tool by which the model chooses an edge; null for one that it doesn't choose. */
export function toolNameOf(flow: Flow, edgeId: string): string | null {
  const edge = flow.edges.find(({ id }) => id === edgeId);
  const transitions = edge ? transitionsOf(flow, edge.fromNodeId) : [];
  return transitions.find((one) => one.edge.id === edgeId)?.tool.name ?? null;
}
