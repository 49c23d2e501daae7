import { Configurations } from "../../assistants/configurations/configurations";
import type { Owner } from "../../assistants/tool-servers/tool-servers";
import { declaredFunctions } from "../functions/functions";
import { namedTools } from "../functions/server-tools";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import type { Flow } from "./flow";
import { problemsOf, type WorkflowProblem } from "./problems";
import { firstSpeaker } from "./route";
import { Workflows } from "./workflows";

const KINDS = ["voice", "sms", "chat"] as const;

/** Checks whether workflows can run. */
export class WorkflowChecker {
  constructor(private readonly scope: Scope) {}

  /** The problems that prevent a workflow from running. */
  async problems(workflowId: string): Promise<WorkflowProblem[]> {
    return this.problemsOf(await this.scope.of(Workflows).flow(workflowId));
  }

  /**
   * Checks a workflow before it runs.
   * @returns its nodes and edges, and the id of the assistant that speaks first
   * @throws WORKFLOW_NOT_FOUND, WORKFLOW_HAS_PROBLEMS
   */
  async start(
    workflowId: string,
    variables: Readonly<Record<string, unknown>>,
  ): Promise<{ flow: Flow; assistantId: string }> {
    await this.scope.of(Workflows).byId(workflowId);
    const flow = await this.scope.of(Workflows).flow(workflowId);
    const problems = await this.problemsOf(flow);
    if (problems.length > 0)
      throw new DomainError(
        "WORKFLOW_HAS_PROBLEMS",
        `The workflow can't run: ${problems.map(({ message }) => message).join(" ")}`,
        problems.map(({ code, nodeId, edgeId, message }) => ({
          path: edgeId !== null ? `edges.${edgeId}` : nodeId !== null ? `nodes.${nodeId}` : "workflowId",
          message: `${code}: ${message}`,
        })),
      );
    const assistantId = firstSpeaker(flow, [variables])?.assistantId;
    if (assistantId == null) throw new Error(`Workflow ${workflowId} has no assistant.`); // one without problems has
    return { flow, assistantId };
  }

  private async problemsOf(flow: Flow): Promise<WorkflowProblem[]> {
    const ids = new Set(flow.nodes.flatMap(({ assistantId }) => assistantId ?? []));
    const known = new Map<string, ReadonlySet<string>>();
    await Promise.all(
      [...ids].map(async (id) => {
        const functions = await this.functionsOf(id);
        if (functions) known.set(id, functions);
      }),
    );
    return problemsOf(flow, known);
  }

  /**
   * Names of the functions that an assistant's configurations declare, and of the tools that its MCP servers are allowed by
   * name; undefined for a deleted assistant.
   */
  private async functionsOf(id: string): Promise<Set<string> | undefined> {
    const live = this.scope.loader<Owner | undefined>("assistants.live", async (ids) => {
      const rows = this.scope.table("assistants").whereIn("id", ids).whereNull("deletedAt");
      const found = new Map((await rows.select("id", "toolServers")).map((row) => [row.id, row]));
      return ids.map((one) => found.get(one));
    });
    const owner = await live.load(id);
    if (!owner) return undefined;
    const configurations = this.scope.of(Configurations);
    const each = await Promise.all(KINDS.map((kind) => configurations.of(kind, { id, template: false })));
    const declared = await Promise.all(each.map((one) => declaredFunctions(this.scope, one)));
    return new Set([...declared.flat().map(({ name }) => name), ...namedTools(owner)]);
  }
}
