import { currentDate } from "../../platform/clock";
import { newId } from "../../platform/database/ids";
import { encoded } from "../../platform/database/encoded";
import type { Scope } from "../../platform/database/scope";
import { invalid, missing, type Problem } from "../../platform/errors";
import { nodeOf, type EdgeKind, type Operator, type WorkflowEdge } from "./flow";
import { NOT_A_VARIABLE, VARIABLE_NAME } from "./workflow-nodes";
import { Workflows } from "./workflows";

export interface WorkflowEdgeInput {
  readonly fromNodeId: string;
  readonly toNodeId: string;
  readonly kind?: EdgeKind;
  readonly rank?: number;
  readonly description?: string | null;
  readonly collects?: readonly string[];
  readonly variable?: string | null;
  readonly operator?: Operator | null;
  readonly value?: string | null;
  readonly functionName?: string | null;
}

/** Of one workflow. */
const MOST_EDGES = 1_000;
const WITHOUT_VALUE: readonly unknown[] = ["IS_SET", "IS_NOT_SET"];

/** The edges of workflows: the ways on from a node, and when they are taken. */
export class WorkflowEdges {
  constructor(private readonly scope: Scope) {}

  /** @throws WORKFLOW_NOT_FOUND, WORKFLOW_NODE_NOT_FOUND; BAD_USER_INPUT that names each field that is missing or wrong */
  async create(workflowId: string, input: WorkflowEdgeInput): Promise<WorkflowEdge> {
    const edge = { kind: "DEFAULT" as const, ...input };
    return this.scope.transaction(async (scope) => {
      await scope.of(Workflows).hold(workflowId);
      const { edges } = await scope.of(Workflows).flow(workflowId);
      if (edges.length >= MOST_EDGES)
        throw invalid([
          { path: "workflowId", message: `names a workflow that has ${MOST_EDGES} edges already` },
        ]);
      await scope.of(WorkflowEdges).check(workflowId, edge);
      const [row] = await scope.insert("workflow_edges", {
        ...edge,
        id: newId(),
        workflowId,
      });
      return row!;
    });
  }

  /** @throws WORKFLOW_EDGE_NOT_FOUND, WORKFLOW_NODE_NOT_FOUND; BAD_USER_INPUT that names each field that is missing or wrong */
  async update(id: string, input: Partial<WorkflowEdgeInput>): Promise<WorkflowEdge> {
    return this.scope.transaction(async (scope) => {
      const edge = () => scope.table("workflow_edges").where({ id });
      const [old] = await edge().forUpdate();
      if (!old) return missing("WorkflowEdge");
      await scope.of(WorkflowEdges).check(old.workflowId, { ...old, ...encodedLess(input) });
      const changes = { ...encoded({ ...input }), updatedAt: currentDate() };
      const [row] = await edge().update(changes).returning("*");
      return row!;
    });
  }

  /** @throws WORKFLOW_EDGE_NOT_FOUND */
  async remove(id: string): Promise<{ id: string }> {
    if ((await this.scope.table("workflow_edges").where({ id }).delete()) === 0) missing("WorkflowEdge");
    return { id };
  }

  private async check(workflowId: string, edge: WorkflowEdgeInput): Promise<void> {
    const problems = incomplete(edge);
    if (problems.length > 0) throw invalid(problems);
    const flow = await this.scope.of(Workflows).flow(workflowId);
    for (const end of [edge.fromNodeId, edge.toNodeId]) if (!nodeOf(flow, end)) missing("WorkflowNode");
  }
}

const encodedLess = (input: Partial<WorkflowEdgeInput>): Partial<WorkflowEdgeInput> =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));

/** What an edge of its kind lacks. */
function incomplete({
  kind,
  description,
  collects = [],
  variable,
  operator,
  value,
  functionName,
}: WorkflowEdgeInput): Problem[] {
  const problems: Problem[] = [];
  const need = (path: string, given: unknown) => {
    if (given == null) problems.push({ path, message: `is required for an edge of the kind ${kind}` });
  };
  if (kind === "MODEL") need("description", description);
  if (kind === "FUNCTION") need("functionName", functionName);
  if (kind === "VARIABLE") {
    need("variable", variable);
    need("operator", operator);
    if (operator != null && !WITHOUT_VALUE.includes(operator)) need("value", value);
  }
  if (variable != null && !VARIABLE_NAME.test(variable))
    problems.push({ path: "variable", message: NOT_A_VARIABLE });
  collects.forEach((name, index) => {
    if (!VARIABLE_NAME.test(name) || name.length > 64)
      problems.push({ path: `collects.${index}`, message: `${NOT_A_VARIABLE}, at most 64 characters` });
  });
  return problems;
}
