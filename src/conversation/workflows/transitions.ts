import { fill, NO_VALUES, type Values } from "../functions/variables";
import type { ModelTool } from "../../platform/ports/text-model";
import { edgesFrom, nodeOf, type Flow, type WorkflowEdge } from "./flow";

/** An edge that the model can choose, and the tool for it. */
export interface Transition {
  readonly edge: WorkflowEdge;
  readonly tool: ModelTool;
}

const MAX_NAME_LENGTH = 50;

/** The MODEL edges of a node with their tools. A tool is named after the target of its edge. */
export function transitionsOf(flow: Flow, nodeId: string, values: Values = NO_VALUES): Transition[] {
  const names = new Set<string>();
  return edgesFrom(flow, nodeId)
    .filter(({ kind }) => kind === "MODEL")
    .map((edge) => {
      const name = uniqueName(`go_to_${slug(nodeOf(flow, edge.toNodeId)?.name ?? "")}`, names);
      return { edge, tool: toolOf(name, edge, values) };
    });
}

function toolOf(name: string, { description, collects }: WorkflowEdge, values: Values): ModelTool {
  const properties = Object.fromEntries(collects.map((variable) => [variable, { type: "string" }]));
  return {
    name,
    description: `Moves the conversation on. Use it when: ${fill(description ?? "", values)}`,
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
    .slice(0, MAX_NAME_LENGTH) || "next";

function uniqueName(base: string, names: Set<string>): string {
  let name = base;
  for (let count = 2; names.has(name); count++) name = `${base}_${count}`;
  names.add(name);
  return name;
}

/** Name of the tool for an edge; null unless it is a MODEL edge. */
export function toolNameOf(flow: Flow, edgeId: string): string | null {
  const edge = flow.edges.find(({ id }) => id === edgeId);
  const transitions = edge ? transitionsOf(flow, edge.fromNodeId) : [];
  return transitions.find((one) => one.edge.id === edgeId)?.tool.name ?? null;
}
