import type { ChatConfiguration, VoiceConfiguration } from "../../assistants/configurations/configurations";
import type { Scope } from "../../platform/database/scope";
import type { Prepared } from "./prepare-turn";

const MOST_REPLIES = 3;
const SUGGESTIONS_TIMEOUT_MS = 10_000;
const QUESTION =
  'Suggest up to three short replies that the person might give next, as a JSON array of strings such as ["Yes", "Tell me more"]. Answer with the array only.';

/** What goes along with an answer: suggestions of what to say next, and whether it says goodbye. */
export async function afterAnswer(
  scope: Scope,
  turn: Prepared,
  text: string,
): Promise<{ quickReplies: string[]; goodbye: boolean }> {
  const { quickRepliesEnabled } = turn.configuration as Partial<ChatConfiguration>;
  const { endCallPhrases = "" } = turn.configuration as Partial<VoiceConfiguration>;
  const phrases = endCallPhrases
    .split(/[,\n]/)
    .map((phrase) => phrase.trim().toLowerCase())
    .filter(Boolean);
  const said = text.toLowerCase();
  return {
    quickReplies: quickRepliesEnabled ? await suggestions(scope, turn, text) : [],
    goodbye: turn.chat.channel === "VOICE" && phrases.some((phrase) => said.includes(phrase)),
  };
}

/** No suggestion is worth a failed answer: whatever goes wrong here means none. */
async function suggestions(scope: Scope, { request, messages }: Prepared, text: string): Promise<string[]> {
  const { local, remote } = scope.ports.models;
  const model = request.credential ? remote : local;
  try {
    if (model.suggest) return (await model.suggest(request, text)).slice(0, MOST_REPLIES);
    const talk = [
      ...messages,
      { role: "assistant" as const, content: text },
      { role: "user" as const, content: QUESTION },
    ];
    let reply = "";
    const asked = {
      ...request,
      messages: talk,
      tools: [],
      maxTokens: 200,
      signal: AbortSignal.timeout(SUGGESTIONS_TIMEOUT_MS),
    };
    for await (const part of model.stream(asked)) if (part.type === "text") reply += part.text;
    const list = JSON.parse(reply.slice(reply.indexOf("["), reply.lastIndexOf("]") + 1) || "[]") as unknown[];
    return list
      .filter((item): item is string => typeof item === "string" && item.trim() !== "")
      .slice(0, MOST_REPLIES);
  } catch {
    return [];
  }
}
