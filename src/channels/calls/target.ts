import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import { CALLING_TYPES, DEPLOYMENT_OFF, type Deployment } from "../../conversation/workflows/deployments";
import { resolve, type ResolvedTarget, type Target } from "../../conversation/workflows/target";

/** The assistant, workflow or deployment that conducts a call. */
export type CallTarget = Target;

/**
 * Resolves the target of a call.
 * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, WORKFLOW_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, DEPLOYMENT_NOT_FOUND,
 * DEPLOYMENT_NOT_CALLABLE
 */
export const resolveTarget = (
  scope: Scope,
  target: CallTarget,
  variables: Readonly<Record<string, unknown>> | null | undefined,
): Promise<ResolvedTarget> =>
  resolve(scope, target, variables ?? {}, { instead: "call with the copy", check: checkCallable });

function checkCallable({ enabled, type }: Deployment): void {
  if (!enabled) throw new DomainError("DEPLOYMENT_NOT_CALLABLE", DEPLOYMENT_OFF);
  if (!CALLING_TYPES.includes(type))
    throw new DomainError(
      "DEPLOYMENT_NOT_CALLABLE",
      `Deployments of type ${type} cannot place calls. Use one of type ${CALLING_TYPES.join(" or ")}.`,
    );
}
