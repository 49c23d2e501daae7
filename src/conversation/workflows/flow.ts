export const NODE_TYPES = ["START", "END", "PROMPT", "ACTION", "CONDITION"] as const;
export type NodeType = (typeof NODE_TYPES)[number];

export const EDGE_KINDS = ["DEFAULT", "MODEL", "VARIABLE", "FUNCTION"] as const;
export type EdgeKind = (typeof EDGE_KINDS)[number];

export const OPERATORS = [
  "EQUALS",
  "NOT_EQUALS",
  "CONTAINS",
  "GREATER",
  "LESS",
  "IS_SET",
  "IS_NOT_SET",
] as const;
export type Operator = (typeof OPERATORS)[number];

export interface WorkflowNode {
  readonly id: string;
  readonly workflowId: string;
  readonly type: NodeType;
  readonly name: string;
  /** Of a PROMPT who speaks, of an ACTION whose function is called. */
  readonly assistantId: string | null;
  /** Of a PROMPT: stands behind the assistant's prompt. */
  readonly instructions: string | null;
  readonly functionName: string | null;
  readonly arguments: Record<string, unknown>;
  /** Under which name the reply of a function is kept. */
  readonly resultVariable: string | null;
  /** Of an END: the last words. */
  readonly message: string | null;
  readonly endReason: string | null;
  readonly metadata: Record<string, unknown>;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface WorkflowEdge {
  readonly id: string;
  readonly workflowId: string;
  readonly fromNodeId: string;
  readonly toNodeId: string;
  readonly kind: EdgeKind;
  /** Of the edges of one node the lower one is looked at first. */
  readonly rank: number;
  readonly description: string | null;
  /** Variables that the model gives with its choice. */
  readonly collects: readonly string[];
  readonly variable: string | null;
  readonly operator: Operator | null;
  readonly value: string | null;
  readonly functionName: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The nodes and edges of a workflow, each in their order. */
export interface Flow {
  readonly nodes: readonly WorkflowNode[];
  readonly edges: readonly WorkflowEdge[];
}

/** In the order in which they are looked at: a default edge comes last. */
export const edgesFrom = ({ edges }: Flow, nodeId: string): WorkflowEdge[] =>
  edges
    .filter(({ fromNodeId }) => fromNodeId === nodeId)
    .toSorted((a, b) => Number(a.kind === "DEFAULT") - Number(b.kind === "DEFAULT"));

export const nodeOf = ({ nodes }: Flow, id: string | null): WorkflowNode | undefined =>
  nodes.find((node) => node.id === id);

/** Where a conversation begins. */
export const startOf = ({ nodes }: Flow): string | undefined =>
  nodes.find(({ type }) => type === "START")?.id;
