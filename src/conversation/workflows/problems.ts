import { edgesFrom, nodeOf, type EdgeKind, type Flow, type NodeType, type WorkflowNode } from "./flow";

/** Problems that prevent a workflow from running, with their descriptions in the GraphQL schema. */
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
} as const;
export type ProblemCode = keyof typeof PROBLEM_CODES;

/** Something that keeps a workflow from running. */
export interface WorkflowProblem {
  readonly code: ProblemCode;
  readonly nodeId: string | null;
  readonly edgeId: string | null;
  readonly message: string;
}

/** The functions that each assistant's configurations declare, by its id; a deleted assistant is not among them. */
export type Known = ReadonlyMap<string, ReadonlySet<string>>;

const POSSIBLE: Readonly<Record<NodeType, readonly EdgeKind[]>> = {
  START: ["DEFAULT", "VARIABLE"],
  CONDITION: ["DEFAULT", "VARIABLE"],
  ACTION: ["DEFAULT", "VARIABLE", "FUNCTION"],
  PROMPT: ["DEFAULT", "VARIABLE", "FUNCTION", "MODEL"],
  END: ["DEFAULT", "VARIABLE", "FUNCTION", "MODEL"], // told otherwise
};
/** Nodes that the conversation passes without waiting for anybody. */
const PASSED: readonly NodeType[] = ["START", "CONDITION", "ACTION"];

/** Everything that keeps a workflow from running; nothing of one that runs. */
export function problemsOf(flow: Flow, known: Known): WorkflowProblem[] {
  const found: WorkflowProblem[] = [];
  const tell: Tell = (code, message, at = {}) =>
    found.push({ code, message, nodeId: at.nodeId ?? null, edgeId: at.edgeId ?? null });
  checkReach(flow, tell);
  checkEdges(flow, tell);
  checkLoops(flow, tell);
  for (const node of flow.nodes) checkSpeaker(node, known, tell);
  checkFunctionEdges(flow, known, tell);
  return found;
}

type Tell = (code: ProblemCode, message: string, at?: { nodeId?: string; edgeId?: string }) => void;

const shown = ({ type, name }: WorkflowNode) => `the ${type} node "${name}"`;
const Shown = (node: WorkflowNode) => shown(node).replace("the", "The");

function checkReach(flow: Flow, tell: Tell): void {
  const [start, ...more] = flow.nodes.filter(({ type }) => type === "START");
  if (!start) return tell("NO_START", PROBLEM_CODES.NO_START);
  for (const node of more)
    tell("SEVERAL_STARTS", `${Shown(node)} is one too many: ${shown(start)} is there.`, { nodeId: node.id });
  const reached = new Set<string>();
  const waiting = [start, ...more].map(({ id }) => id);
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (reached.has(id)) continue;
    reached.add(id);
    if (nodeOf(flow, id)?.type !== "END")
      waiting.push(...edgesFrom(flow, id).map(({ toNodeId }) => toNodeId));
  }
  const reaches = (type: NodeType) => flow.nodes.some((node) => node.type === type && reached.has(node.id));
  if (!reaches("PROMPT")) tell("NO_PROMPT", PROBLEM_CODES.NO_PROMPT);
  if (!reaches("END")) tell("END_UNREACHABLE", PROBLEM_CODES.END_UNREACHABLE);
  for (const node of flow.nodes)
    if (!reached.has(node.id))
      tell("UNREACHABLE_NODE", `${Shown(node)} can't be reached from START.`, { nodeId: node.id });
}

function checkEdges(flow: Flow, tell: Tell): void {
  for (const { id: edgeId, kind, fromNodeId, toNodeId } of flow.edges) {
    const [from, to] = [nodeOf(flow, fromNodeId), nodeOf(flow, toNodeId)];
    if (to?.type === "START")
      tell("EDGE_INTO_START", `An edge leads into ${shown(to)}.`, { nodeId: to.id, edgeId });
    if (from?.type === "END")
      tell("EDGE_FROM_END", `An edge leads away from ${shown(from)}.`, { nodeId: from.id, edgeId });
    if (from && !POSSIBLE[from.type].includes(kind))
      tell("EDGE_KIND_NOT_POSSIBLE", `${Shown(from)} can't have an edge of the kind ${kind}.`, {
        nodeId: from.id,
        edgeId,
      });
  }
  for (const node of flow.nodes) checkWaysOn(flow, node, tell);
}

function checkWaysOn(flow: Flow, node: WorkflowNode, tell: Tell): void {
  const { id: nodeId, type } = node;
  const edges = edgesFrom(flow, nodeId);
  const [first, second] = edges.filter(({ kind }) => kind === "DEFAULT");
  if (second)
    tell("SEVERAL_DEFAULT_EDGES", `${Shown(node)} has more than one default edge.`, {
      nodeId,
      edgeId: second.id,
    });
  if (first || !PASSED.includes(type)) return;
  if (type === "CONDITION" && edges.length === 0)
    return tell("CONDITION_WITHOUT_EDGES", `${Shown(node)} has no edge.`, { nodeId });
  tell("NO_DEFAULT_EDGE", `${Shown(node)} has no default edge: nothing leads on where no other fits.`, {
    nodeId,
  });
}

/** A ring of nodes that nobody speaks in; each node in one is told. */
function checkLoops(flow: Flow, tell: Tell): void {
  const passed = flow.nodes.filter(({ type }) => PASSED.includes(type));
  for (const node of passed) {
    const seen = new Set<string>();
    const waiting = [node.id];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop())
      for (const { toNodeId } of edgesFrom(flow, id))
        if (!seen.has(toNodeId) && passed.some((one) => one.id === toNodeId))
          waiting.push((seen.add(toNodeId), toNodeId));
    if (seen.has(node.id))
      tell("ENDLESS_LOOP", `${Shown(node)} leads back to itself without a PROMPT on the way.`, {
        nodeId: node.id,
      });
  }
}

function checkSpeaker(node: WorkflowNode, known: Known, tell: Tell): void {
  const { id: nodeId, type, assistantId, functionName } = node;
  if (type !== "PROMPT" && type !== "ACTION") return;
  const functions = assistantId === null ? undefined : known.get(assistantId);
  if (assistantId === null) tell(`${type}_WITHOUT_ASSISTANT`, `${Shown(node)} has no assistant.`, { nodeId });
  else if (!functions) tell("ASSISTANT_DELETED", `The assistant of ${shown(node)} was deleted.`, { nodeId });
  if (type !== "ACTION") return;
  if (functionName === null) tell("ACTION_WITHOUT_FUNCTION", `${Shown(node)} names no function.`, { nodeId });
  else if (functions && !functions.has(functionName))
    tell("UNKNOWN_FUNCTION", `The assistant of ${shown(node)} has no function ${functionName}.`, { nodeId });
}

function checkFunctionEdges(flow: Flow, known: Known, tell: Tell): void {
  for (const { id: edgeId, kind, fromNodeId, functionName } of flow.edges) {
    const from = nodeOf(flow, fromNodeId);
    if (kind !== "FUNCTION" || !from || functionName === null) continue;
    const functions = from.assistantId === null ? undefined : known.get(from.assistantId);
    const at = { nodeId: from.id, edgeId };
    if (from.type === "ACTION" && from.functionName !== null && from.functionName !== functionName)
      tell(
        "UNKNOWN_FUNCTION",
        `An edge waits for ${functionName}, but ${shown(from)} calls ${from.functionName}.`,
        at,
      );
    else if (from.type === "PROMPT" && functions && !functions.has(functionName))
      tell(
        "UNKNOWN_FUNCTION",
        `An edge waits for ${functionName}, which the assistant of ${shown(from)} does not have.`,
        at,
      );
  }
}
