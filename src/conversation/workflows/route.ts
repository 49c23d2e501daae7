import { namesIn } from "../../assistants/configurations/variable-names";
import { fill, type Values } from "../functions/variables";
import { edgesFrom, nodeOf, type Flow, type WorkflowEdge, type WorkflowNode } from "./flow";

/** Result of a node, for edges that wait for it. */
export interface NodeOutcome {
  /** Name of the function that succeeded. */
  readonly called?: string;
}

/** The edge to follow from a node. Ignores MODEL edges, which the model chooses. */
export const nextEdge = (
  flow: Flow,
  { id }: WorkflowNode,
  values: Values,
  { called }: NodeOutcome = {},
): WorkflowEdge | undefined =>
  edgesFrom(flow, id).find(
    (edge) =>
      edge.kind === "DEFAULT" ||
      (edge.kind === "FUNCTION" && edge.functionName === called) ||
      (edge.kind === "VARIABLE" && conditionHolds(edge, values)),
  );

/**
 * Whether the condition of a VARIABLE edge holds. Compares numbers as numbers, other values as text, ignoring case. What has
 * no value equals nothing, and is neither greater nor less.
 */
export function conditionHolds({ variable, operator, value }: WorkflowEdge, values: Values): boolean {
  const found = values.of(variable ?? "");
  const isSet = found !== undefined && found !== null && found !== "";
  const [actual, expected] = [textOf(found), textOf(fill(value ?? "", values))];
  const isComparable = isSet && expected !== "" && namesIn(value ?? "").every((name) => values.isSet(name));
  switch (operator) {
    case "IS_SET":
      return isSet;
    case "IS_NOT_SET":
      return !isSet;
    case "EQUALS":
      return isComparable && compare(actual, expected) === 0;
    case "NOT_EQUALS":
      return !isComparable || compare(actual, expected) !== 0;
    case "CONTAINS":
      return isComparable && actual.includes(expected);
    case "GREATER":
      return isComparable && compare(actual, expected) > 0;
    case "LESS":
      return isComparable && compare(actual, expected) < 0;
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
 * The PROMPT node that speaks first, as far as known before functions are called: where an edge depends on a function,
 * assumes the first path that leads to a PROMPT.
 */
export function firstSpeaker(flow: Flow, values: Values): WorkflowNode | undefined {
  const waiting = flow.nodes.filter(({ type }) => type === "START");
  const seen = new Set(waiting);
  for (let node = waiting.shift(); node; node = waiting.shift()) {
    if (node.type === "PROMPT") return node;
    const likely = nextEdge(
      flow,
      node,
      values,
      node.functionName === null ? {} : { called: node.functionName },
    );
    const edges = [...(likely ? [likely] : []), ...edgesFrom(flow, node.id)];
    const next = edges.flatMap(({ toNodeId }) => nodeOf(flow, toNodeId) ?? []);
    waiting.unshift(...next.filter((one, index) => !seen.has(one) && next.indexOf(one) === index));
    next.forEach((one) => seen.add(one));
  }
  return undefined;
}
