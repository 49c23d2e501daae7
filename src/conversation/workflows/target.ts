import { Assistants, type Assistant } from "../../assistants/assistants/assistants";
import type { Scope } from "../../platform/database/scope";
import { DomainError, invalid } from "../../platform/errors";
import { Deployments, type Deployment } from "./deployments";
import type { Flow } from "./flow";
import { Runnable } from "./runnable";

/** Who speaks for us in a conversation. */
export type Target =
  { readonly assistantId: string } | { readonly workflowId: string } | { readonly deploymentId: string };

/** What a target comes to. */
export interface ResolvedTarget {
  /** Who speaks, or begins to. */
  readonly assistant: Assistant;
  readonly workflowId?: string;
  readonly flow?: Flow;
  readonly deploymentId?: string;
  /** The connected number that the deployment uses. */
  readonly connectionId?: string;
}

/** What it is to be used for, in the words of errors. */
interface Purpose {
  /** Such as "call with the copy". */
  readonly instead: string;
  /** @throws DomainError for a deployment that is not for it */
  readonly check: (deployment: Deployment) => void;
}

type Variables = Readonly<Record<string, unknown>>;

/**
 * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, WORKFLOW_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, DEPLOYMENT_NOT_FOUND,
 * and what `purpose` refuses a deployment with
 */
export async function resolve(
  scope: Scope,
  target: Target,
  variables: Variables,
  purpose: Purpose,
): Promise<ResolvedTarget> {
  if ("workflowId" in target) return ofWorkflow(scope, target.workflowId, variables);
  if ("deploymentId" in target) return ofDeployment(scope, target.deploymentId, variables, purpose);
  const assistant = await scope.of(Assistants).byId(target.assistantId);
  if (!assistant.template) return { assistant };
  throw new DomainError(
    "TEMPLATE_READ_ONLY",
    `This assistant is a template. Duplicate it, then ${purpose.instead}.`,
  );
}

async function ofWorkflow(scope: Scope, workflowId: string, variables: Variables): Promise<ResolvedTarget> {
  return { ...(await scope.of(Runnable).begin(workflowId, variables)), workflowId };
}

async function ofDeployment(
  scope: Scope,
  deploymentId: string,
  variables: Variables,
  purpose: Purpose,
): Promise<ResolvedTarget> {
  const deployment = await scope.of(Deployments).byId(deploymentId);
  purpose.check(deployment);
  const { workflowId, assistantId, telephonyConnectionId: connectionId } = deployment;
  const held = workflowId === null ? { assistantId: assistantId! } : { workflowId }; // it has one of the two
  const resolved = await resolve(scope, held, variables, purpose);
  return { ...resolved, deploymentId, ...(connectionId !== null && { connectionId }) };
}

/**
 * The one target that an input names.
 * @param ids by the names of their fields
 * @throws BAD_USER_INPUT for none or several
 */
export function targetOf(ids: Readonly<Record<string, string | null | undefined>>): Target {
  const names = Object.keys(ids);
  const given = names.filter((name) => ids[name] != null);
  if (given.length === 1) return { [given[0]!]: ids[given[0]!] } as unknown as Target; // the inputs have no other fields
  throw invalid(
    (given.length > 1 ? given : names).map((path) => ({
      path,
      message: `give one of ${names.join(" and ")}`,
    })),
  );
}
