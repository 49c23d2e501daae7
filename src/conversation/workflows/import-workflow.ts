import { hasValues } from "../../platform/database/values/has-values";
import { timesOfNew, type KeptTimes } from "../../platform/database/kept-times";
import { withFreeKey } from "../../platform/database/record-key";
import type { Scope } from "../../platform/database/scope";
import { DomainError, quoted } from "../../platform/errors";
import { Projects } from "../../account/projects/projects";
import { checkGraph, lockedFlow, Replacement } from "./replace-graph";
import type { WorkflowEdgeInput } from "./workflow-edges";
import type { WorkflowNodeInput } from "./workflow-nodes";
import { Workflows, type Workflow, type WorkflowInput } from "./workflows";

/** What a record of another service keeps. */
interface Kept extends KeptTimes {
  readonly id: string;
}

/** A workflow of another service with all its nodes and edges. */
export interface ImportedWorkflow extends Kept, WorkflowInput {
  readonly nodes: readonly (Kept & WorkflowNodeInput)[];
  readonly edges: readonly (Kept & WorkflowEdgeInput)[];
}

/**
 * Creates a workflow with this id, or updates the one with this id to match. Runs in a transaction.
 * @throws PROJECT_NOT_FOUND, ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, WORKFLOW_NODE_NOT_FOUND, CONFLICT, BAD_USER_INPUT
 */
export async function importWorkflow(
  scope: Scope,
  { nodes, edges, ...workflow }: ImportedWorkflow,
): Promise<Workflow> {
  const graph = { nodes, edges };
  checkGraph(graph);
  const { id } = await importRecord(scope, workflow);
  await checkFree(scope, id, graph);
  await new Replacement(scope, id, await lockedFlow(scope, id)).run(graph);
  scope.forget();
  return scope.of(Workflows).byId(id);
}

async function importRecord(
  scope: Scope,
  { id, createdAt, updatedAt, ...input }: Kept & WorkflowInput,
): Promise<Workflow> {
  const [stored] = await scope.table("workflows").where({ id }).forUpdate();
  const values = { ...input, ...(updatedAt && { updatedAt }) };
  if (stored) return hasValues(stored, values) ? stored : scope.of(Workflows).update(id, values);
  if (input.projectId != null) await scope.of(Projects).byId(input.projectId);
  const row = { ...input, id, ...timesOfNew({ createdAt, updatedAt }) };
  const insert = async () => await scope.insert("workflows", row);
  const [made] = await withFreeKey(scope, "workflows", input, insert);
  return made!;
}

/** @throws CONFLICT if another workflow has the id of a node or edge */
async function checkFree(
  scope: Scope,
  workflowId: string,
  graph: Pick<ImportedWorkflow, "nodes" | "edges">,
): Promise<void> {
  for (const [name, table] of [
    ["nodes", "workflow_nodes"],
    ["edges", "workflow_edges"],
  ] as const) {
    const ids = graph[name].map(({ id }) => id);
    const others = scope.table(table).whereIn("id", ids).whereNot({ workflowId });
    const [taken] = await others.select("id").limit(1);
    if (!taken) continue;
    const path = `${name}.${ids.indexOf(taken.id)}.id`;
    const message = `Another workflow has the id ${quoted(taken.id)} already.`;
    throw new DomainError("CONFLICT", message, [{ path, message: "is already used by another workflow" }]);
  }
}
