import {
  connectionByAge,
  type Connection,
  type ConnectionQuery,
} from "../../platform/database/lists/connection";
import { currentDate } from "../../platform/clock";
import { Chats } from "../../chats/chats/chats";
import { newId } from "../../platform/database/values/ids";
import { encoded } from "../../platform/database/values/encoded";
import { withFreeKey } from "../../platform/database/record-key";
import { NEWEST_FIRST } from "../../platform/database/lists/order";
import type { Input, PublicRow } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";
import { missing } from "../../platform/errors";
import { Projects } from "../../account/projects/projects";
import type { Flow } from "./flow";
import { readFlows } from "./read-flows";

export type Workflow = PublicRow<"workflows">;
export type WorkflowInput = Input<"workflows">;

/** The workflows of an organization: conversations that move from node to node. */
export class Workflows {
  constructor(private readonly scope: Scope) {}

  /** Newest first; with a project only its workflows. @throws PROJECT_NOT_FOUND */
  async list(projectId?: string | null): Promise<Workflow[]> {
    await this.checkProject(projectId);
    return await this.rowsOf(projectId).orderBy(NEWEST_FIRST);
  }

  /** The same by creation, as a connection. @throws PROJECT_NOT_FOUND */
  async connection(query: ConnectionQuery, projectId?: string | null): Promise<Connection<Workflow>> {
    await this.checkProject(projectId);
    return connectionByAge({ rows: this.rowsOf(projectId), map: (row) => row }, query);
  }

  private rowsOf(projectId: string | null | undefined) {
    const rows = this.scope.table("workflows");
    return projectId == null ? rows : rows.where({ projectId });
  }

  /** @throws WORKFLOW_NOT_FOUND */
  async byId(id: string): Promise<Workflow> {
    return (await this.find(id)) ?? missing("Workflow", id);
  }

  /** Loads a workflow; calls in the same tick share one statement. @returns undefined if it does not exist */
  find(id: string): Promise<Workflow | undefined> {
    const loader = this.scope.loader<Workflow | undefined>("workflows", async (ids) => {
      const rows = await this.scope.table("workflows").whereIn("id", ids);
      const found = new Map(rows.map((row) => [row.id, row]));
      return ids.map((one) => found.get(one));
    });
    return loader.load(id);
  }

  /** Nodes, oldest first, and edges of a workflow, empty if it does not exist; calls in the same tick share one statement. */
  flow(id: string): Promise<Flow> {
    const read = (ids: readonly string[]) => readFlows(this.scope, ids);
    return this.scope.loader<Flow>("workflows.flow", read).load(id);
  }

  /** @throws PROJECT_NOT_FOUND, CONFLICT */
  async create(input: WorkflowInput): Promise<Workflow> {
    await this.checkProject(input.projectId);
    const insert = async () => await this.scope.insert("workflows", { ...input, id: newId() });
    const [row] = await withFreeKey(this.scope, "workflows", input, insert);
    return row!;
  }

  /** @throws WORKFLOW_NOT_FOUND, PROJECT_NOT_FOUND, CONFLICT */
  async update(id: string, input: Partial<WorkflowInput & { updatedAt: Date }>): Promise<Workflow> {
    await this.checkProject(input.projectId);
    const changes = { updatedAt: currentDate(), ...encoded({ ...input }) };
    const update = async () =>
      await this.scope.table("workflows").where({ id }).update(changes).returning("*");
    const [row] = await withFreeKey(this.scope, "workflows", { id, key: input.key }, update);
    return row ?? missing("Workflow", id);
  }

  /** Deletes a workflow with its nodes, edges and deployments, and ends its live chats. @throws WORKFLOW_NOT_FOUND */
  async remove(id: string): Promise<{ id: string }> {
    await this.scope.transaction(async (scope) => {
      const workflow = () => scope.table("workflows").where({ id });
      // Waits for transactions that start chats. Ends chats before the deletion: their events need the project.
      if ((await workflow().forUpdate()).length === 0) missing("Workflow", id);
      await scope.of(Chats).endAll({ workflowId: id }, "workflow-deleted");
      await workflow().delete();
    });
    return { id };
  }

  /** Prevents deletion until the end of the transaction, which stores a chat. @throws WORKFLOW_NOT_FOUND */
  async lockForChat(id: string): Promise<void> {
    const locked = await this.scope.table("workflows").select("id").where({ id }).forShare();
    if (locked.length === 0) missing("Workflow", id);
  }

  private async checkProject(projectId: string | null | undefined): Promise<void> {
    if (projectId != null) await this.scope.of(Projects).byId(projectId);
  }
}
