import { logChatError } from "../../chats/chats/log-chat-error";
import type { Scope } from "../../platform/database/scope";
import type { PreparedTurn } from "./prepare-turn";

/** Records that a message got no answer: for the organization in the log of the chat, and for the operator. */
export async function recordFailedAnswer(scope: Scope, chatId: string, error: Error): Promise<void> {
  const { organizationId } = scope;
  scope.ports.models.reports.failed(error, { purpose: "answer", organizationId, chatId });
  await logChatError(scope, chatId, error);
}

/** Counts an answer, unless it was looked up without a model. */
export function countAnswer(scope: Scope, { request: { model, credential } }: PreparedTurn): void {
  if (credential) scope.ports.models.reports.answered(model, "answer");
}
