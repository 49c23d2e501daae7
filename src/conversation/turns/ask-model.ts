import { logChatError } from "../../chats/chats/log-chat-error";
import type { Scope } from "../../platform/database/scope";
import {
  ModelFailure,
  type ModelMessage,
  type ModelPart,
  type ModelRequest,
} from "../../platform/ports/text-model";
import type { PreparedTurn } from "./prepare-turn";

/**
 * Streams the answer of the turn's model. A model that refuses functions is asked again without them, with passages in
 * the prompt instead, and only in that way while the refusal is remembered.
 */
export async function* askModel(
  scope: Scope,
  turn: PreparedTurn,
  messages: readonly ModelMessage[],
  signal: AbortSignal,
): AsyncGenerator<ModelPart, void> {
  const { local, remote, refusals } = scope.ports.models;
  const request = { ...turn.request, messages, signal };
  const model = request.credential ? remote : local;
  if (request.tools.length === 0 || !refusals.has(request))
    try {
      yield* model.stream(request);
      return;
    } catch (error) {
      const isRefusal = error instanceof ModelFailure && error.kind === "tools_refused";
      if (!isRefusal || request.tools.length === 0) throw error;
      refusals.add(request);
      await report(scope, turn, error);
    }
  yield* model.stream(await withoutTools(turn, request));
}

/** Reports a refusal to the operator, and to the organization in the log of the chat. */
async function report(scope: Scope, { chat }: PreparedTurn, error: ModelFailure): Promise<void> {
  const { organizationId } = scope;
  scope.ports.models.reports.failed(error, { purpose: "answer", organizationId, chatId: chat.id });
  await logChatError(scope, chat.id, error);
}

/** The request for a model that takes no functions. Marks the answer. */
async function withoutTools(turn: PreparedTurn, request: ModelRequest): Promise<ModelRequest> {
  const knowledge = await turn.passages();
  turn.metadata.withoutFunctions = true;
  return {
    ...request,
    system: [request.system, knowledge].filter(Boolean).join("\n\n"),
    messages: request.messages.flatMap(withoutCalls),
    tools: [],
  };
}

/** A message without calls; the answer of a function becomes a note. */
function withoutCalls({ role, content, answers }: ModelMessage): ModelMessage[] {
  if (role === "tool")
    return [{ role: "user", content: `(Note: ${answers?.name ?? "a function"} answered: ${content})` }];
  return content === "" ? [] : [{ role, content }];
}
