import type { ChatConfiguration, VoiceConfiguration } from "../../assistants/configurations/configurations";
import type { Scope } from "../../platform/database/scope";
import { ModelFailure } from "../../platform/ports/text-model";
import type { PreparedTurn } from "./prepare-turn";

const MAX_REPLIES = 3;
const SUGGESTIONS_TIMEOUT_MS = 10_000;
const QUESTION =
  'Suggest up to three short replies that the person might give next, as a JSON array of strings such as ["Yes", "Tell me more"]. Answer with the array only.';

/** Suggested replies to an answer, and whether the answer says goodbye. */
export async function answerExtras(
  scope: Scope,
  turn: PreparedTurn,
  text: string,
): Promise<{ quickReplies: string[]; goodbye: boolean }> {
  const { quickRepliesEnabled } = turn.configuration as Partial<ChatConfiguration>;
  const { endCallPhrases = "" } = turn.configuration as Partial<VoiceConfiguration>;
  const phrases = endCallPhrases
    .split(/[,\n]/)
    .map((phrase) => phrase.trim().toLowerCase())
    .filter(Boolean);
  const answer = text.toLowerCase();
  return {
    quickReplies: quickRepliesEnabled ? await suggestReplies(scope, turn, text) : [],
    goodbye: phrases.some((phrase) => answer.includes(phrase)),
  };
}

/** Returns an empty list on any error: a missing suggestion must not fail the answer. */
async function suggestReplies(
  scope: Scope,
  { chat, request, messages }: PreparedTurn,
  text: string,
): Promise<string[]> {
  const { local, remote } = scope.ports.models;
  const model = request.credential ? remote : local;
  try {
    if (model.suggest) return (await model.suggest({ ...request, messages })).slice(0, MAX_REPLIES);
    const conversation = [
      ...messages,
      { role: "assistant" as const, content: text },
      { role: "user" as const, content: QUESTION },
    ];
    let reply = "";
    const modelRequest = {
      ...request,
      messages: conversation,
      tools: [],
      maxTokens: 200,
      signal: AbortSignal.timeout(SUGGESTIONS_TIMEOUT_MS),
    };
    for await (const part of model.stream(modelRequest)) if (part.type === "text") reply += part.text;
    scope.ports.models.reports.answered(request.model, "quick_replies");
    const list = JSON.parse(reply.slice(reply.indexOf("["), reply.lastIndexOf("]") + 1) || "[]") as unknown[];
    return list
      .filter((item): item is string => typeof item === "string" && item.trim() !== "")
      .slice(0, MAX_REPLIES);
  } catch (error) {
    const { organizationId } = scope;
    if (error instanceof ModelFailure)
      scope.ports.models.reports.failed(error, { purpose: "quick_replies", organizationId, chatId: chat.id });
    return [];
  }
}
