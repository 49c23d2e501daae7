import type { Assistant } from "../../assistants/assistants/assistants";
import { Configurations, type ChannelConfiguration } from "../../assistants/configurations/configurations";
import { namesIn } from "../../assistants/configurations/variable-names";
import type { Owner } from "../../assistants/tool-servers/tool-servers";
import { declaredFunctions } from "../functions/functions";
import { filledTexts, textsOfFunctions, type FilledText } from "../../assistants/configurations/filled-texts";
import { namedTools } from "../functions/server-tools";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import type { Flow, NodeType } from "./flow";
import { problemsOf, type WorkflowProblem } from "./problems";
import { unsetVariables, type FlowAssistant } from "./unset-variables";
import { Workflows } from "./workflows";

const KINDS = ["voice", "sms", "chat"] as const;

/** Checks whether workflows can run. */
export class WorkflowChecker {
  constructor(private readonly scope: Scope) {}

  /** The problems that prevent a workflow from running, then variables that nothing sets. */
  async problems(workflowId: string): Promise<WorkflowProblem[]> {
    const flow = await this.scope.of(Workflows).flow(workflowId);
    return [...(await this.problemsOf(flow)), ...(await this.unsetVariablesOf(flow))];
  }

  /**
   * Checks a workflow before it runs.
   * @returns its nodes and edges
   * @throws WORKFLOW_NOT_FOUND, WORKFLOW_HAS_PROBLEMS
   */
  async runnable(workflowId: string): Promise<Flow> {
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
    return flow;
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

  private async unsetVariablesOf(flow: Flow): Promise<WorkflowProblem[]> {
    const { scope } = this;
    const of = (type: NodeType) => flow.nodes.filter((node) => node.type === type);
    const prompts = new Set(of("PROMPT").flatMap(({ assistantId }) => assistantId ?? []));
    const speakers = [...prompts].map(async (id): Promise<[string, FlowAssistant][]> => {
      const owner = await this.live(id);
      if (!owner) return [];
      const names = await this.namesIn(id, (one) => filledTexts(scope, one));
      return [[id, { variables: owner.variables, names }]];
    });
    const called = of("ACTION").map(async ({ id, assistantId, functionName }) => {
      const isLive = assistantId !== null && (await this.live(assistantId)) !== undefined;
      const texts = (one: ChannelConfiguration) => textsOfFunctions(scope, one, functionName ?? "");
      return [id, isLive ? await this.namesIn(assistantId, texts) : []] as const;
    });
    return unsetVariables(
      flow,
      new Map((await Promise.all(speakers)).flat()),
      new Map(await Promise.all(called)),
    );
  }

  /** Names of the variables in some texts of each configuration of an assistant. */
  private async namesIn(id: string, textsOf: (one: ChannelConfiguration) => Promise<FilledText[]>) {
    const texts = await Promise.all((await this.configurations(id)).map(textsOf));
    return [...new Set(texts.flat().flatMap(({ text }) => namesIn(text)))];
  }

  /**
   * Names of the functions that an assistant's configurations declare, and of the tools that its MCP servers are allowed by
   * name; undefined for a deleted assistant.
   */
  private async functionsOf(id: string): Promise<Set<string> | undefined> {
    const owner = await this.live(id);
    if (!owner) return undefined;
    const each = await this.configurations(id);
    const declared = await Promise.all(each.map((one) => declaredFunctions(this.scope, one)));
    return new Set([...declared.flat().map(({ name }) => name), ...namedTools(owner)]);
  }

  private live(id: string) {
    const loader = this.scope.loader<(Owner & Pick<Assistant, "variables">) | undefined>(
      "assistants.live",
      async (ids) => {
        const rows = this.scope.table("assistants").whereIn("id", ids).whereNull("deletedAt");
        const live = await rows.select("id", "toolServers", "variables");
        const found = new Map(live.map((row) => [row.id, row]));
        return ids.map((one) => found.get(one));
      },
    );
    return loader.load(id);
  }

  private configurations(id: string) {
    const configurations = this.scope.of(Configurations);
    return Promise.all(KINDS.map((kind) => configurations.of(kind, { id, template: false })));
  }
}
