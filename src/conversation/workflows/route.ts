import { fill } from "../functions/variables";
import { edgesFrom, nodeOf, type Flow, type WorkflowEdge, type WorkflowNode } from "./flow";

/** Where values of variables are looked for, the first one that has a name decides. */
export type Sources = readonly (Readonly<Record<string, unknown>> | null)[];

/** What has happened at a node that its edges may wait for. */
export interface Happened {
  /** The function that answered well. */
  readonly called?: string;
}

/** The edge that leads on from a node; a model's choice is not among them. */
export const wayOn = (
  flow: Flow,
  { id }: WorkflowNode,
  sources: Sources,
  { called }: Happened = {},
): WorkflowEdge | undefined =>
  edgesFrom(flow, id).find(
    (edge) =>
      edge.kind === "DEFAULT" ||
      (edge.kind === "FUNCTION" && edge.functionName === called) ||
      (edge.kind === "VARIABLE" && holds(edge, sources)),
  );

/** Whether the condition on a variable is met. Numbers are compared as such, texts in any case. */
export function holds({ variable, operator, value }: WorkflowEdge, sources: Sources): boolean {
  const source = sources.find((values) => values !== null && Object.hasOwn(values, variable ?? ""));
  const found = source?.[variable!]; // a source was found by that name
  const isSet = found !== undefined && found !== null && found !== "";
  const [actual, wanted] = [textOf(found), textOf(fill(value ?? "", sources))];
  switch (operator) {
    case "IS_SET":
      return isSet;
    case "IS_NOT_SET":
      return !isSet;
    case "EQUALS":
      return isSet && compare(actual, wanted) === 0;
    case "NOT_EQUALS":
      return !isSet || compare(actual, wanted) !== 0;
    case "CONTAINS":
      return isSet && actual.includes(wanted);
    case "GREATER":
      return isSet && compare(actual, wanted) > 0;
    case "LESS":
      return isSet && compare(actual, wanted) < 0;
    case null:
      return false;
  }
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return (typeof value === "string" ? value : JSON.stringify(value)).trim().toLowerCase();
}

function compare(one: string, other: string): number {
  const [a, b] = [Number(one), Number(other)];
  if (one !== "" && other !== "" && !Number.isNaN(a) && !Number.isNaN(b)) return Math.sign(a - b);
  return one < other ? -1 : Number(one > other);
}

/**
 * The node that speaks first, as far as that can be told before any function is called: what depends on one is taken
 * to go the first way that leads to a PROMPT.
 */
export function firstSpeaker(flow: Flow, sources: Sources): WorkflowNode | undefined {
  const waiting = flow.nodes.filter(({ type }) => type === "START");
  const seen = new Set(waiting);
  for (let node = waiting.shift(); node; node = waiting.shift()) {
    if (node.type === "PROMPT") return node;
    const likely = wayOn(
      flow,
      node,
      sources,
      node.functionName === null ? {} : { called: node.functionName },
    );
    const ways = [...(likely ? [likely] : []), ...edgesFrom(flow, node.id)];
    const next = ways.flatMap(({ toNodeId }) => nodeOf(flow, toNodeId) ?? []);
    waiting.unshift(...next.filter((one, index) => !seen.has(one) && next.indexOf(one) === index));
    next.forEach((one) => seen.add(one));
  }
  return undefined;
}
