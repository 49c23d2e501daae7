import { ModelFailures } from "../../account/organization/model-failures";
import { logChatError } from "../../chats/chats/log-chat-error";
import type { Scope } from "../../platform/database/scope";
import type { PreparedTurn } from "./prepare-turn";

/** Records that a message got no answer: for the organization in the log of the chat, and for the operator. */
export async function recordFailedAnswer(scope: Scope, chatId: string, error: Error): Promise<void> {
  const { organizationId } = scope;
  scope.ports.models.reports.failed(error, { purpose: "answer", organizationId, chatId });
  await scope.of(ModelFailures).failed(error);
  await logChatError(scope, chatId, error);
}

/** Counts an answer, unless it was looked up without a model. */
export async function countAnswer(
  scope: Scope,
  { request: { model, credential } }: PreparedTurn,
): Promise<void> {
  if (!credential) return;
  scope.ports.models.reports.answered(model, "answer");
  await scope.of(ModelFailures).answered(model.id);
}
