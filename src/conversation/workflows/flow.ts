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
  /** PROMPT: the assistant that speaks. ACTION: the assistant that declares the function. */
  readonly assistantId: string | null;
  /** PROMPT: appended to the assistant's prompt. */
  readonly instructions: string | null;
  readonly functionName: string | null;
  readonly arguments: Record<string, unknown>;
  /** Name of the variable for a function's reply. */
  readonly resultVariable: string | null;
  /** END: the last message. */
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
  /** Edges of a node are checked in ascending order of rank. */
  readonly rank: number;
  readonly description: string | null;
  /** Variables that the model fills when it chooses the edge. */
  readonly collects: readonly string[];
  readonly variable: string | null;
  readonly operator: Operator | null;
  readonly value: string | null;
  readonly functionName: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The nodes and edges of a workflow, in order. */
export interface Flow {
  readonly nodes: readonly WorkflowNode[];
  readonly edges: readonly WorkflowEdge[];
}

/** The edges of a node in the order in which they are checked: default edges last. */
export const edgesFrom = ({ edges }: Flow, nodeId: string): WorkflowEdge[] =>
  edges
    .filter(({ fromNodeId }) => fromNodeId === nodeId)
    .toSorted((a, b) => Number(a.kind === "DEFAULT") - Number(b.kind === "DEFAULT"));

export const nodeOf = ({ nodes }: Flow, id: string | null): WorkflowNode | undefined =>
  nodes.find((node) => node.id === id);

/** Id of the START node. */
export const startOf = ({ nodes }: Flow): string | undefined =>
  nodes.find(({ type }) => type === "START")?.id;
