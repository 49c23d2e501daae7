import { currentDate } from "../../platform/clock";
import { newId } from "../../platform/database/values/ids";
import { encoded } from "../../platform/database/values/encoded";
import { rowById } from "../../platform/database/lists/row-by-id";
import type { Scope } from "../../platform/database/scope";
import { invalid, missing } from "../../platform/errors";
import { nodeOf, type EdgeKind, type Operator, type WorkflowEdge } from "./flow";
import { MAX_EDGES, problemsOfEdge } from "./part-rules";
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

/** The edges of workflows: connections between nodes, with conditions. */
export class WorkflowEdges {
  constructor(private readonly scope: Scope) {}

  /** Loads an edge; calls in the same tick share one statement. @returns undefined if it does not exist */
  find(id: string): Promise<WorkflowEdge | undefined> {
    return rowById(this.scope, "workflow_edges", id);
  }

  /** @throws WORKFLOW_NOT_FOUND, WORKFLOW_NODE_NOT_FOUND; BAD_USER_INPUT with a problem per missing or invalid field */
  async create(workflowId: string, input: WorkflowEdgeInput): Promise<WorkflowEdge> {
    const edge = { kind: "DEFAULT" as const, ...input };
    return this.scope.transaction(async (scope) => {
      await scope.of(Workflows).lockForChat(workflowId);
      const { edges } = await scope.of(Workflows).flow(workflowId);
      if (edges.length >= MAX_EDGES)
        throw invalid([
          { path: "workflowId", message: `names a workflow that already has ${MAX_EDGES} edges` },
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

  /** @throws WORKFLOW_EDGE_NOT_FOUND, WORKFLOW_NODE_NOT_FOUND; BAD_USER_INPUT as `create` */
  async update(id: string, input: Partial<WorkflowEdgeInput>): Promise<WorkflowEdge> {
    return this.scope.transaction(async (scope) => {
      const edge = () => scope.table("workflow_edges").where({ id });
      const [old] = await edge().forUpdate();
      if (!old) return missing("WorkflowEdge", id);
      await scope.of(WorkflowEdges).check(old.workflowId, { ...old, ...withoutUndefined(input) });
      const changes = { updatedAt: currentDate(), ...encoded({ ...input }) };
      const [row] = await edge().update(changes).returning("*");
      return row!;
    });
  }

  /** @throws WORKFLOW_EDGE_NOT_FOUND */
  async remove(id: string): Promise<{ id: string }> {
    if ((await this.scope.table("workflow_edges").where({ id }).delete()) === 0) missing("WorkflowEdge", id);
    return { id };
  }

  private async check(workflowId: string, edge: WorkflowEdgeInput): Promise<void> {
    const problems = problemsOfEdge(edge);
    if (problems.length > 0) throw invalid(problems);
    const flow = await this.scope.of(Workflows).flow(workflowId);
    for (const end of [edge.fromNodeId, edge.toNodeId]) if (!nodeOf(flow, end)) missing("WorkflowNode", end);
  }
}

const withoutUndefined = (input: Partial<WorkflowEdgeInput>): Partial<WorkflowEdgeInput> =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
