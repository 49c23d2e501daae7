import { edgesFrom, nodeOf, type EdgeKind, type Flow, type NodeType, type WorkflowNode } from "./flow";

/** Kinds of problems of workflows, with their descriptions in the GraphQL schema. */
export const PROBLEM_CODES = {
  NO_START: "The workflow has no START node.",
  SEVERAL_STARTS: "The workflow has more than one START node.",
  NO_PROMPT: "No PROMPT node can be reached from START, so no assistant speaks.",
  END_UNREACHABLE: "No END node can be reached from START.",
  UNREACHABLE_NODE: "A node can't be reached from START.",
  EDGE_INTO_START: "The target of an edge is a START node.",
  EDGE_FROM_END: "The source of an edge is an END node.",
  EDGE_KIND_NOT_POSSIBLE: "The source node of an edge does not support the kind of the edge.",
  SEVERAL_DEFAULT_EDGES: "A node has more than one DEFAULT edge.",
  NO_DEFAULT_EDGE: "A START, ACTION or CONDITION node has no DEFAULT edge to take if no other edge matches.",
  CONDITION_WITHOUT_EDGES: "A CONDITION node has no outgoing edge.",
  ENDLESS_LOOP: "Nodes form a loop without a PROMPT node.",
  PROMPT_WITHOUT_ASSISTANT: "A PROMPT node has no assistant.",
  ACTION_WITHOUT_ASSISTANT: "An ACTION node has no assistant to declare its function.",
  ASSISTANT_DELETED: "The assistant of a node has been deleted.",
  ACTION_WITHOUT_FUNCTION: "An ACTION node names no function.",
  UNKNOWN_FUNCTION: "No configuration of the assistant declares the function.",
  UNSET_VARIABLE:
    "A text or a condition uses a variable that neither the workflow nor an assistant sets. A WARNING: the conversation may set it when it starts.",
} as const;
export type ProblemCode = keyof typeof PROBLEM_CODES;

/** Severities of problems, with their descriptions in the GraphQL schema. */
export const SEVERITIES = {
  ERROR: "The workflow cannot run.",
  WARNING: "The workflow can run, but perhaps not as intended.",
} as const;

export interface WorkflowProblem {
  readonly code: ProblemCode;
  readonly severity: keyof typeof SEVERITIES;
  readonly nodeId: string | null;
  readonly edgeId: string | null;
  readonly message: string;
}

/** Names of declared functions by assistant id. Deleted assistants have no entry. */
export type FunctionsByAssistant = ReadonlyMap<string, ReadonlySet<string>>;

const ALLOWED_EDGE_KINDS: Readonly<Record<NodeType, readonly EdgeKind[]>> = {
  START: ["DEFAULT", "VARIABLE"],
  CONDITION: ["DEFAULT", "VARIABLE"],
  ACTION: ["DEFAULT", "VARIABLE", "FUNCTION"],
  PROMPT: ["DEFAULT", "VARIABLE", "FUNCTION", "MODEL"],
  END: ["DEFAULT", "VARIABLE", "FUNCTION", "MODEL"], // reported as EDGE_FROM_END
};
/** Nodes that a conversation moves through without waiting. */
const TRANSIT_TYPES: readonly NodeType[] = ["START", "CONDITION", "ACTION"];

/** The problems that prevent a workflow from running. */
export function problemsOf(flow: Flow, known: FunctionsByAssistant): WorkflowProblem[] {
  const found: WorkflowProblem[] = [];
  const report: Report = (code, message, at = {}) =>
    found.push({
      code,
      severity: "ERROR",
      message,
      nodeId: at.nodeId ?? null,
      edgeId: at.edgeId ?? null,
    });
  checkReach(flow, report);
  checkEdges(flow, report);
  checkLoops(flow, report);
  for (const node of flow.nodes) checkSpeaker(node, known, report);
  checkFunctionEdges(flow, known, report);
  return found;
}

type Report = (code: ProblemCode, message: string, at?: { nodeId?: string; edgeId?: string }) => void;

export const describe = ({ type, name }: WorkflowNode) => `the ${type} node "${name}"`;
const subjectOf = (node: WorkflowNode) => describe(node).replace("the", "The");

function checkReach(flow: Flow, report: Report): void {
  const [start, ...more] = flow.nodes.filter(({ type }) => type === "START");
  if (!start) return report("NO_START", PROBLEM_CODES.NO_START);
  for (const node of more)
    report("SEVERAL_STARTS", `${subjectOf(node)} is a second START node, besides ${describe(start)}.`, {
      nodeId: node.id,
    });
  const reached = new Set<string>();
  const waiting = [start, ...more].map(({ id }) => id);
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    if (nodeOf(flow, id)?.type !== "END")
      waiting.push(...edgesFrom(flow, id).map(({ toNodeId }) => toNodeId));
  }
  const reaches = (type: NodeType) => flow.nodes.some((node) => node.type === type && reached.has(node.id));
  if (!reaches("PROMPT")) report("NO_PROMPT", PROBLEM_CODES.NO_PROMPT);
  if (!reaches("END")) report("END_UNREACHABLE", PROBLEM_CODES.END_UNREACHABLE);
  for (const node of flow.nodes)
    if (!reached.has(node.id))
      report("UNREACHABLE_NODE", `${subjectOf(node)} can't be reached from START.`, { nodeId: node.id });
}

function checkEdges(flow: Flow, report: Report): void {
  for (const { id: edgeId, kind, fromNodeId, toNodeId } of flow.edges) {
    const [from, to] = [nodeOf(flow, fromNodeId), nodeOf(flow, toNodeId)];
    if (to?.type === "START")
      report("EDGE_INTO_START", `An edge leads into ${describe(to)}.`, { nodeId: to.id, edgeId });
    if (from?.type === "END")
      report("EDGE_FROM_END", `An edge leads away from ${describe(from)}.`, { nodeId: from.id, edgeId });
    if (from && !ALLOWED_EDGE_KINDS[from.type].includes(kind))
      report("EDGE_KIND_NOT_POSSIBLE", `${subjectOf(from)} can't have an edge of the kind ${kind}.`, {
        nodeId: from.id,
        edgeId,
      });
  }
  for (const node of flow.nodes) checkWaysOn(flow, node, report);
}

function checkWaysOn(flow: Flow, node: WorkflowNode, report: Report): void {
  const { id: nodeId, type } = node;
  const edges = edgesFrom(flow, nodeId);
  const [first, second] = edges.filter(({ kind }) => kind === "DEFAULT");
  if (second)
    report("SEVERAL_DEFAULT_EDGES", `${subjectOf(node)} has more than one default edge.`, {
      nodeId,
      edgeId: second.id,
    });
  if (first || !TRANSIT_TYPES.includes(type)) return;
  if (type === "CONDITION" && edges.length === 0)
    return report("CONDITION_WITHOUT_EDGES", `${subjectOf(node)} has no edge.`, { nodeId });
  report("NO_DEFAULT_EDGE", `${subjectOf(node)} has no default edge to take if no other edge matches.`, {
    nodeId,
  });
}

/** Reports each node of a loop without a PROMPT node. */
function checkLoops(flow: Flow, report: Report): void {
  const transitNodes = flow.nodes.filter(({ type }) => TRANSIT_TYPES.includes(type));
  for (const node of transitNodes) {
    const seen = new Set<string>();
    const waiting = [node.id];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop())
      for (const { toNodeId } of edgesFrom(flow, id))
        if (!seen.has(toNodeId) && transitNodes.some((one) => one.id === toNodeId))
          waiting.push((seen.add(toNodeId), toNodeId));
    if (seen.has(node.id))
      report("ENDLESS_LOOP", `${subjectOf(node)} leads back to itself without a PROMPT on the way.`, {
        nodeId: node.id,
      });
  }
}

function checkSpeaker(node: WorkflowNode, known: FunctionsByAssistant, report: Report): void {
  const { id: nodeId, type, assistantId, functionName } = node;
  if (type !== "PROMPT" && type !== "ACTION") return;
  const functions = assistantId === null ? undefined : known.get(assistantId);
  if (assistantId === null)
    report(`${type}_WITHOUT_ASSISTANT`, `${subjectOf(node)} has no assistant.`, { nodeId });
  else if (!functions)
    report("ASSISTANT_DELETED", `The assistant of ${describe(node)} was deleted.`, { nodeId });
  if (type !== "ACTION") return;
  if (functionName === null)
    report("ACTION_WITHOUT_FUNCTION", `${subjectOf(node)} has no function name.`, { nodeId });
  else if (functions && !functions.has(functionName))
    report("UNKNOWN_FUNCTION", `The assistant of ${describe(node)} has no function ${functionName}.`, {
      nodeId,
    });
}

function checkFunctionEdges(flow: Flow, known: FunctionsByAssistant, report: Report): void {
  for (const { id: edgeId, kind, fromNodeId, functionName } of flow.edges) {
    const from = nodeOf(flow, fromNodeId);
    if (kind !== "FUNCTION" || !from || functionName === null) continue;
    const functions = from.assistantId === null ? undefined : known.get(from.assistantId);
    const at = { nodeId: from.id, edgeId };
    if (from.type === "ACTION" && from.functionName !== null && from.functionName !== functionName)
      report(
        "UNKNOWN_FUNCTION",
        `An edge waits for ${functionName}, but ${describe(from)} calls ${from.functionName}.`,
        at,
      );
    else if (from.type === "PROMPT" && functions && !functions.has(functionName))
      report(
        "UNKNOWN_FUNCTION",
        `An edge waits for ${functionName}, which the assistant of ${describe(from)} does not have.`,
        at,
      );
  }
}
