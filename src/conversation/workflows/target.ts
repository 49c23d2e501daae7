import {
  PinnedAssistants,
  type Choice,
  type PinnedAssistant,
} from "../../assistants/versions/pinned-assistants";
import type { Scope } from "../../platform/database/scope";
import { DomainError, invalid, type Problem } from "../../platform/errors";
import { Deployments, type Deployment } from "./deployments";
import { Values, valuesOf } from "../functions/variables";
import type { Flow, WorkflowNode } from "./flow";
import { firstSpeaker } from "./route";
import { WorkflowChecker } from "./workflow-checker";

/** The assistant, workflow or deployment that a conversation is started with. */
export type Target =
  | ({ readonly assistantId: string } & Choice)
  | { readonly workflowId: string }
  | { readonly deploymentId: string };

/** A target with its assistant and workflow. */
export interface ResolvedTarget {
  /** The assistant that the conversation counts for. */
  readonly assistant: PinnedAssistant;
  /** The assistant that speaks first: another one only if the values of no assistant of a workflow lead to itself. */
  readonly speaker: PinnedAssistant;
  /** The node of the workflow at which it speaks. */
  readonly firstNode?: WorkflowNode;
  /** Versions of the assistants of the workflow, by their ids. */
  readonly speakerVersions?: Readonly<Record<string, number>>;
  readonly workflowId?: string;
  readonly flow?: Flow;
  readonly deploymentId?: string;
  /** The deployment's telephony connection. */
  readonly connectionId?: string;
}

/** Who speaks first, and where in a workflow. */
export type FirstSpeaker = Pick<ResolvedTarget, "speaker" | "flow" | "firstNode">;

/** The use of a target, for checks and error messages. */
interface Purpose {
  /** What to do with a copy of a template, such as "call with the copy". */
  readonly instead: string;
  /** @throws DomainError for a deployment that does not allow this use */
  readonly check: (deployment: Deployment) => void;
}

type Variables = Readonly<Record<string, unknown>>;

/**
 * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, WORKFLOW_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, DEPLOYMENT_NOT_FOUND,
 * and the errors of `purpose.check`
 */
export async function resolve(
  scope: Scope,
  target: Target,
  variables: Variables,
  purpose: Purpose,
): Promise<ResolvedTarget> {
  if ("workflowId" in target) return resolveWorkflow(scope, target.workflowId, variables);
  if ("deploymentId" in target) return resolveDeployment(scope, target.deploymentId, variables, purpose);
  const assistant = await scope.of(PinnedAssistants).begin(target.assistantId, target);
  if (!assistant.template) return { assistant, speaker: assistant };
  throw new DomainError(
    "TEMPLATE_READ_ONLY",
    `This assistant is a template. Duplicate it, then ${purpose.instead}.`,
  );
}

async function resolveWorkflow(
  scope: Scope,
  workflowId: string,
  variables: Variables,
): Promise<ResolvedTarget> {
  const flow = await scope.of(WorkflowChecker).runnable(workflowId);
  const speakers = new Set(flow.nodes.flatMap(({ assistantId }) => assistantId ?? []));
  const speakerVersions = await scope.of(PinnedAssistants).currentVersions([...speakers]);
  const first = await firstSpeakers(scope, flow, variables, speakerVersions);
  return { flow, ...first, speakerVersions, workflowId };
}

/**
 * Who speaks first in a workflow without problems. The conditions before it also read the variables of the assistant that
 * the conversation counts for: one is assumed until its values lead to itself. If that never happens, the first assumption stays.
 */
async function firstSpeakers(
  scope: Scope,
  flow: Flow,
  variables: Variables,
  versions: Readonly<Record<string, number>>,
): Promise<Pick<ResolvedTarget, "assistant" | "speaker" | "firstNode">> {
  const assumed: { firstNode: WorkflowNode; speaker: PinnedAssistant }[] = [];
  for (let values = new Values([variables]); ; values = valuesOf(variables, assumed.at(-1)!.speaker)) {
    const firstNode = firstSpeaker(flow, values);
    const id = firstNode?.assistantId;
    if (!firstNode || id == null) throw new Error("No assistant speaks first in this workflow."); // one without problems has one
    const last = assumed.at(-1)?.speaker;
    if (last?.id === id) return { assistant: last, speaker: last, firstNode };
    if (assumed.some(({ speaker }) => speaker.id === id))
      return { assistant: assumed[0]!.speaker, ...assumed[1]! };
    const number = versions[id];
    const speaker = await scope.of(PinnedAssistants).at(id, number === undefined ? undefined : { number });
    assumed.push({ firstNode, speaker });
  }
}

async function resolveDeployment(
  scope: Scope,
  deploymentId: string,
  variables: Variables,
  purpose: Purpose,
): Promise<ResolvedTarget> {
  const deployment = await scope.of(Deployments).byId(deploymentId);
  purpose.check(deployment);
  const { workflowId, assistantId, assistantVersion, telephonyConnectionId: connectionId } = deployment;
  const target = workflowId === null ? { assistantId: assistantId!, assistantVersion } : { workflowId }; // it has one of the two
  const resolved = await resolve(scope, target, variables, purpose);
  return { ...resolved, deploymentId, ...(connectionId !== null && { connectionId }) };
}

/**
 * The enabled deployments that answer a connected number, oldest first, each with its target, or with the error that says why
 * it cannot run now.
 */
export async function answering(
  scope: Scope,
  connectionId: string,
  type: "PHONE_INBOUND" | "SMS",
  instead: string,
): Promise<{ deployment: Deployment; target: ResolvedTarget | DomainError }[]> {
  const purpose = { instead, check: () => undefined };
  return Promise.all(
    (await scope.of(Deployments).ofNumber(connectionId, type)).map(async (deployment) => {
      const target = await resolve(scope, { deploymentId: deployment.id }, {}, purpose).catch(
        (error: unknown) => {
          if (error instanceof DomainError) return error;
          throw error;
        },
      );
      return { deployment, target };
    }),
  );
}

/**
 * The target of an input.
 * @param ids ids by field name
 * @param choice what the conversation runs of the assistant
 * @throws BAD_USER_INPUT unless exactly one id is present, and the choice suits it
 */
export function targetOf(
  ids: Readonly<Record<string, string | null | undefined>>,
  { assistantVersion, draft }: Choice = {},
): Target {
  const names = Object.keys(ids);
  const present = names.filter((name) => ids[name] != null);
  if (present.length === 1) {
    checkChoice({ assistantVersion, draft }, present[0]!);
    return { [present[0]!]: ids[present[0]!], assistantVersion, draft } as unknown as Target; // the inputs have no other fields
  }
  const count = present.length > 1 ? present.join(" and ") : "none of them";
  const message = `give exactly one of ${names.join(", ")}; got ${count}`;
  const details = (present.length > 1 ? present : names).map((path) => ({ path, message }));
  throw new DomainError("BAD_USER_INPUT", `G${message.slice(1)}.`, details);
}

function checkChoice({ assistantVersion, draft }: Choice, target: string): void {
  const given = [...(assistantVersion == null ? [] : ["assistantVersion"]), ...(draft ? ["draft"] : [])];
  const problems: Problem[] =
    target === "assistantId"
      ? []
      : given.map((path) => ({
          path,
          message:
            "must not be sent with a workflow or a deployment; updateDeployment sets the version of a deployment",
        }));
  if (given.length === 2)
    problems.push({ path: "draft", message: "must not be true together with assistantVersion" });
  if (problems.length > 0) throw invalid(problems);
}
