import { currentDate } from "../../platform/clock";
import { VARIABLE_NAME, VARIABLE_NAME_RULE } from "../../assistants/configurations/variable-names";
import { newId } from "../../platform/database/ids";
import { encoded } from "../../platform/database/encoded";
import { rowById } from "../../platform/database/row-by-id";
import type { Scope } from "../../platform/database/scope";
import { invalid, missing, type Problem } from "../../platform/errors";
import { nodeOf, type EdgeKind, type Operator, type WorkflowEdge } from "./flow";
import type { KeptColumns } from "./workflow-nodes";
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

/** Per workflow. */
const MAX_EDGES = 1_000;
/** Models get these names as properties of a function's parameters, which providers limit to ASCII. */
const COLLECTED_NAME = /^[A-Za-z_][A-Za-z0-9_.]{0,63}$/;
const WITHOUT_VALUE: readonly unknown[] = ["IS_SET", "IS_NOT_SET"];

/** The edges of workflows: connections between nodes, with conditions. */
export class WorkflowEdges {
  constructor(private readonly scope: Scope) {}

  /** Loads an edge; calls in the same tick share one statement. @returns undefined if it does not exist */
  find(id: string): Promise<WorkflowEdge | undefined> {
    return rowById(this.scope, "workflow_edges", id);
  }

  /** @throws WORKFLOW_NOT_FOUND, WORKFLOW_NODE_NOT_FOUND; BAD_USER_INPUT with a problem per missing or invalid field */
  async create(workflowId: string, input: WorkflowEdgeInput, kept?: KeptColumns): Promise<WorkflowEdge> {
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
        ...kept,
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
      const changes = { ...encoded({ ...input }), updatedAt: currentDate() };
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
    const problems = problemsOf(edge);
    if (problems.length > 0) throw invalid(problems);
    const flow = await this.scope.of(Workflows).flow(workflowId);
    for (const end of [edge.fromNodeId, edge.toNodeId]) if (!nodeOf(flow, end)) missing("WorkflowNode", end);
  }
}

const withoutUndefined = (input: Partial<WorkflowEdgeInput>): Partial<WorkflowEdgeInput> =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));

/** Missing and invalid fields of an edge of its kind. */
function problemsOf({
  kind,
  description,
  collects = [],
  variable,
  operator,
  value,
  functionName,
}: WorkflowEdgeInput): Problem[] {
  const problems: Problem[] = [];
  const need = (path: string, value: unknown) => {
    if (value == null) problems.push({ path, message: `is required for an edge of the kind ${kind}` });
  };
  if (kind === "MODEL") need("description", description);
  if (kind === "FUNCTION") need("functionName", functionName);
  if (kind === "VARIABLE") {
    need("variable", variable);
    need("operator", operator);
    if (operator != null && !WITHOUT_VALUE.includes(operator)) need("value", value);
  }
  if (variable != null && !VARIABLE_NAME.test(variable))
    problems.push({ path: "variable", message: `must consist of ${VARIABLE_NAME_RULE}` });
  collects.forEach((name, index) => {
    if (!COLLECTED_NAME.test(name))
      problems.push({
        path: `collects.${index}`,
        message: `must consist of 1 to 64 ASCII ${VARIABLE_NAME_RULE}`,
      });
  });
  return problems;
}
