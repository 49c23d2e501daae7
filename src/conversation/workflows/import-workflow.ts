import { hasValues } from "../../platform/database/values/has-values";
import { timesOfNew, type KeptTimes } from "../../platform/database/kept-times";
import { withFreeKey } from "../../platform/database/record-key";
import type { Scope } from "../../platform/database/scope";
import { DomainError, failAt, invalid, quoted, withPaths } from "../../platform/errors";
import { Projects } from "../../account/projects/projects";
import { repeated } from "./graph-rules";
import { WorkflowEdges, type WorkflowEdgeInput } from "./workflow-edges";
import { WorkflowNodes, type WorkflowNodeInput } from "./workflow-nodes";
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
  checkIds({ nodes, edges });
  const stored = await importRecord(scope, workflow);
  await new GraphImport(scope, stored.id).run(nodes, edges);
  scope.forget();
  return scope.of(Workflows).byId(stored.id);
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

/** Makes the nodes and edges of a workflow equal to given ones. */
class GraphImport {
  constructor(
    private readonly scope: Scope,
    private readonly workflowId: string,
  ) {}

  async run(nodes: ImportedWorkflow["nodes"], edges: ImportedWorkflow["edges"]): Promise<void> {
    const { scope, workflowId } = this;
    await this.makeRoomFor("edges", edges);
    await this.makeRoomFor("nodes", nodes);
    scope.forget();
    const stored = await scope.of(Workflows).flow(workflowId);
    for (const [index, node] of nodes.entries())
      await this.node(node, stored.nodes).catch((error) => failIn(`nodes.${index}`, error));
    scope.forget();
    for (const [index, edge] of edges.entries())
      await this.edge(edge, stored.edges).catch((error) => failIn(`edges.${index}`, error));
  }

  /** Deletes what is not given. @throws CONFLICT if another workflow has a given id */
  private async makeRoomFor(name: "nodes" | "edges", given: readonly Kept[]): Promise<void> {
    const { scope, workflowId } = this;
    const table = name === "nodes" ? "workflow_nodes" : "workflow_edges";
    const ids = given.map(({ id }) => id);
    const [taken] = await scope
      .table(table)
      .whereIn("id", ids)
      .whereNot({ workflowId })
      .select("id")
      .limit(1);
    if (taken) {
      const path = `${name}.${ids.indexOf(taken.id)}.id`;
      const message = `Another workflow has the id ${quoted(taken.id)} already.`;
      throw new DomainError("CONFLICT", message, [{ path, message: "is already used by another workflow" }]);
    }
    await scope.table(table).where({ workflowId }).whereNotIn("id", ids).delete();
  }

  private async node(
    { id, createdAt, updatedAt, ...input }: ImportedWorkflow["nodes"][number],
    stored: readonly Kept[],
  ): Promise<void> {
    const nodes = this.scope.of(WorkflowNodes);
    const old = stored.find((one) => one.id === id);
    const values = { ...input, ...(updatedAt && { updatedAt }) };
    if (!old) await nodes.create(this.workflowId, input, { id, ...timesOfNew({ createdAt, updatedAt }) });
    else if (!hasValues(old, values)) await nodes.update(id, values);
  }

  private async edge(
    { id, createdAt, updatedAt, ...input }: ImportedWorkflow["edges"][number],
    stored: readonly Kept[],
  ): Promise<void> {
    const edges = this.scope.of(WorkflowEdges);
    const old = stored.find((one) => one.id === id);
    const values = { ...input, ...(updatedAt && { updatedAt }) };
    if (!old) await edges.create(this.workflowId, input, { id, ...timesOfNew({ createdAt, updatedAt }) });
    else if (!hasValues(old, values)) await edges.update(id, values);
  }
}

/** Names the node or edge that an error is about. @throws DomainError */
function failIn(place: string, error: unknown): never {
  if (error instanceof DomainError && error.details) throw withPaths(error, (path) => `${place}.${path}`);
  return failAt(place, error);
}

/** @throws BAD_USER_INPUT for two nodes or two edges with the same id */
function checkIds(graph: Pick<ImportedWorkflow, "nodes" | "edges">): void {
  const problems = Object.entries(graph).flatMap(([name, parts]: [string, readonly Kept[]]) =>
    repeated(
      parts.map(({ id }, index) => ({ path: `${name}.${index}.id`, name: id })),
      "must be unique",
    ),
  );
  if (problems.length > 0) throw invalid(problems);
}
