import type { Api } from "./api";

/** Inputs of nodes and edges; nodes have names that only the test uses. */
type Nodes = Readonly<Record<string, { readonly type: string } & Readonly<Record<string, unknown>>>>;
export type Edge = readonly [from: string, to: string, more?: Readonly<Record<string, unknown>>];

export interface BuiltFlow {
  readonly workflowId: string;
  /** Ids of the nodes by the test's names. */
  readonly nodes: Readonly<Record<string, string>>;
  /** Ids of the edges, in the given order. */
  readonly edges: readonly string[];
}

const WORKFLOW = "mutation ($input: CreateWorkflowInput!) { createWorkflow(input: $input) { id } }";
const NODE =
  "mutation ($id: ID!, $input: CreateWorkflowNodeInput!) { createWorkflowNode(workflowId: $id, input: $input) { id } }";
const EDGE =
  "mutation ($id: ID!, $input: CreateWorkflowEdgeInput!) { createWorkflowEdge(workflowId: $id, input: $input) { id } }";

/** Creates a workflow. The name of a node defaults to the test's name for it. */
export async function newFlow(
  api: Api,
  nodes: Nodes,
  edges: readonly Edge[] = [],
  workflow: object = { name: "Flow" },
): Promise<BuiltFlow> {
  const { createWorkflow } = await api.gql(WORKFLOW, { input: workflow });
  const id = createWorkflow.id as string;
  const made: Record<string, string> = {};
  for (const [name, node] of Object.entries(nodes))
    made[name] = (await api.gql(NODE, { id, input: { name, ...node } })).createWorkflowNode.id;
  const ids: string[] = [];
  for (const [from, to, more] of edges) {
    const input = { fromNodeId: made[from], toNodeId: made[to], ...more };
    ids.push((await api.gql(EDGE, { id, input })).createWorkflowEdge.id);
  }
  return { workflowId: id, nodes: made, edges: ids };
}

/** A workflow that runs: START, one PROMPT, END. */
export const buildFlow = (
  api: Api,
  { assistantId, ...workflow }: { assistantId: string } & Record<string, unknown>,
): Promise<BuiltFlow> =>
  newFlow(
    api,
    {
      start: { type: "START" },
      talk: { type: "PROMPT", assistantId },
      end: { type: "END" },
    },
    [
      ["start", "talk"],
      ["talk", "end", { kind: "MODEL", description: "The person says goodbye." }],
    ],
    { name: "Flow", ...workflow },
  );

const PROBLEMS =
  "query ($id: ID!) { workflow(id: $id) { problems { code severity nodeId edgeId message } } }";

export const problemsOf = async (api: Api, id: string) =>
  (await api.gql(PROBLEMS, { id })).workflow.problems as {
    code: string;
    severity: "ERROR" | "WARNING";
    nodeId: string | null;
    edgeId: string | null;
    message: string;
  }[];
