import { currentDate } from "../../platform/clock";
import { Assistants } from "../../assistants/assistants/assistants";
import { newId } from "../../platform/database/values/ids";
import { encoded } from "../../platform/database/values/encoded";
import type { Scope } from "../../platform/database/scope";
import { DomainError, invalid, missing } from "../../platform/errors";
import type { JsonObject } from "../../platform/json/json-object";
import type { NodeType, WorkflowNode } from "./flow";
import { MAX_NODES, problemsOfNode } from "./part-rules";
import { Workflows } from "./workflows";

export interface WorkflowNodeInput {
  readonly type: NodeType;
  readonly name: string;
  readonly assistantId?: string | null;
  readonly instructions?: string | null;
  readonly functionName?: string | null;
  readonly arguments?: JsonObject;
  readonly resultVariable?: string | null;
  readonly message?: string | null;
  readonly endReason?: string | null;
  readonly metadata?: JsonObject;
}

/** The nodes of workflows. */
export class WorkflowNodes {
  constructor(private readonly scope: Scope) {}

  /** Loads a node; calls in the same tick share one statement. @returns undefined if it does not exist */
  find(id: string): Promise<WorkflowNode | undefined> {
    const loader = this.scope.loader<WorkflowNode | undefined>("workflow_nodes", async (ids) => {
      const rows = await this.scope.table("workflow_nodes").whereIn("id", ids);
      return ids.map((one) => rows.find((row) => row.id === one));
    });
    return loader.load(id);
  }

  /** @throws WORKFLOW_NOT_FOUND, ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, BAD_USER_INPUT */
  async create(workflowId: string, input: WorkflowNodeInput): Promise<WorkflowNode> {
    await this.check(input);
    return this.scope.transaction(async (scope) => {
      await scope.of(Workflows).lockForChat(workflowId);
      const { nodes } = await scope.of(Workflows).flow(workflowId);
      if (nodes.length >= MAX_NODES)
        throw invalid([
          { path: "workflowId", message: `names a workflow that already has ${MAX_NODES} nodes` },
        ]);
      const [row] = await scope.insert("workflow_nodes", {
        ...input,
        id: newId(),
        workflowId,
      });
      return row!;
    });
  }

  /** @throws WORKFLOW_NODE_NOT_FOUND, ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, BAD_USER_INPUT */
  async update(id: string, input: Partial<WorkflowNodeInput>): Promise<WorkflowNode> {
    await this.check(input);
    const changes = { updatedAt: currentDate(), ...encoded({ ...input }) };
    const rows = this.scope.table("workflow_nodes").where({ id }).update(changes).returning("*");
    return (await rows)[0] ?? missing("WorkflowNode", id);
  }

  /** Deletes a node with its incoming and outgoing edges. @throws WORKFLOW_NODE_NOT_FOUND */
  async remove(id: string): Promise<{ id: string }> {
    if ((await this.scope.table("workflow_nodes").where({ id }).delete()) === 0) missing("WorkflowNode", id);
    return { id };
  }

  private async check({ assistantId, ...node }: Partial<WorkflowNodeInput>): Promise<void> {
    const problems = problemsOfNode(node);
    if (problems.length > 0) throw invalid(problems);
    if (assistantId != null) await checkAssistant(this.scope, assistantId);
  }
}

/** @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY */
export async function checkAssistant(scope: Scope, id: string): Promise<void> {
  const { template } = await scope.of(Assistants).byId(id);
  if (template)
    throw new DomainError(
      "TEMPLATE_READ_ONLY",
      "This assistant is a template. Duplicate it, then use the copy.",
    );
}
