import { currentDate } from "../../platform/clock";
import { Chats } from "../../chats/chats/chats";
import { newId } from "../../platform/database/ids";
import { encoded } from "../../platform/database/encoded";
import { NEWEST_FIRST, OLDEST_FIRST } from "../../platform/database/order";
import type { Input, Shown } from "../../platform/database/rows";
import type { Scope } from "../../platform/database/scope";
import { missing } from "../../platform/errors";
import { Projects } from "../../account/projects/projects";
import type { Flow } from "./flow";

export type Workflow = Shown<"workflows">;
export type WorkflowInput = Input<"workflows">;

/** The workflows of an organization: conversations that move from node to node. */
export class Workflows {
  constructor(private readonly scope: Scope) {}

  /** The newest first; with a project those of that project. @throws PROJECT_NOT_FOUND */
  async list(projectId?: string | null): Promise<Workflow[]> {
    const rows = this.scope.table("workflows").orderBy(NEWEST_FIRST);
    if (projectId == null) return await rows;
    await this.scope.of(Projects).byId(projectId);
    return await rows.where({ projectId });
  }

  /** @throws WORKFLOW_NOT_FOUND */
  async byId(id: string): Promise<Workflow> {
    return (await this.find(id)) ?? missing("Workflow");
  }

  /** Many of one request by one statement; undefined for one that does not exist, or no more. */
  find(id: string): Promise<Workflow | undefined> {
    const loader = this.scope.loader<Workflow | undefined>("workflows", async (ids) => {
      const rows = await this.scope.table("workflows").whereIn("id", ids);
      const found = new Map(rows.map((row) => [row.id, row]));
      return ids.map((one) => found.get(one));
    });
    return loader.load(id);
  }

  /** The nodes and edges of a workflow, those of many by two statements; none of one that does not exist. */
  flow(id: string): Promise<Flow> {
    const loader = this.scope.loader<Flow>("workflows.flow", async (ids) => {
      const { scope } = this;
      const nodes = await scope.table("workflow_nodes").whereIn("workflowId", ids).orderBy(OLDEST_FIRST);
      const edges = await scope.table("workflow_edges").whereIn("workflowId", ids).orderBy(["rank", "id"]);
      return ids.map((one) => ({
        nodes: nodes.filter(({ workflowId }) => workflowId === one),
        edges: edges.filter(({ workflowId }) => workflowId === one),
      }));
    });
    return loader.load(id);
  }

  /** @throws PROJECT_NOT_FOUND */
  async create(input: WorkflowInput): Promise<Workflow> {
    await this.checkProject(input);
    const [row] = await this.scope.insert("workflows", { ...input, id: newId() });
    return row!;
  }

  /** @throws WORKFLOW_NOT_FOUND, PROJECT_NOT_FOUND */
  async update(id: string, input: Partial<WorkflowInput>): Promise<Workflow> {
    await this.checkProject(input);
    const changes = { ...encoded({ ...input }), updatedAt: currentDate() };
    const [row] = await this.scope.table("workflows").where({ id }).update(changes).returning("*");
    return row ?? missing("Workflow");
  }

  /** Deletes it with its nodes, edges and deployments, and ends its live chats. @throws WORKFLOW_NOT_FOUND */
  async remove(id: string): Promise<{ id: string }> {
    await this.scope.transaction(async (scope) => {
      const workflow = () => scope.table("workflows").where({ id });
      // Waits for chats that are being started: they are ended too, and while its project is still known.
      if ((await workflow().forUpdate()).length === 0) missing("Workflow");
      await scope.of(Chats).endAll({ workflowId: id }, "workflow-deleted");
      await workflow().delete();
    });
    return { id };
  }

  /** Keeps it from being deleted until the transaction has stored a chat. @throws WORKFLOW_NOT_FOUND */
  async hold(id: string): Promise<void> {
    const held = await this.scope.table("workflows").select("id").where({ id }).forShare();
    if (held.length === 0) missing("Workflow");
  }

  private async checkProject({ projectId }: Partial<WorkflowInput>): Promise<void> {
    if (projectId != null) await this.scope.of(Projects).byId(projectId);
  }
}
