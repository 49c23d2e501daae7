import type { Scope } from "../../platform/database/scope";
import { Knowledge, type Passage } from "../../assistants/knowledge/knowledge";
import type { JsonObject } from "../../platform/json/json-object";
import type { ModelRequest } from "../../platform/ports/text-model";
import { fill, valuesOf } from "../functions/variables";
import type { InternalTool, TurnParts } from "./prepare-turn";

const MAX_PRESERVED = 8;

/**
 * Passages for the prompt: found for this question if `forceRag` is set or it mentions a trigger topic, and with
 * `preserveRagResult` those found for earlier questions.
 */
export async function searchBeforeAnswer(
  scope: Scope,
  { chat, assistant, configuration, question }: TurnParts,
): Promise<Passage[]> {
  if (!configuration.isRagEnabled) return [];
  const { forceRag, ragTriggerTopics, preserveRagResult } = configuration;
  const topics = ragTriggerTopics
    .split(/[,\n]/)
    .map((topic) => topic.trim().toLowerCase())
    .filter(Boolean);
  const isTriggered = topics.some((topic) => question.toLowerCase().includes(topic));
  const preserved = preserveRagResult ? (chat.notes.found ?? []) : [];
  const fresh =
    forceRag || isTriggered ? await scope.of(Knowledge).find(question, assistant.id, configuration) : [];
  const found = [
    ...new Map([...fresh, ...preserved].map((passage) => [passage.text, passage])).values(),
  ].slice(0, MAX_PRESERVED);
  if (preserveRagResult && fresh.length > 0) await storePassages(scope, chat.id, found);
  return found;
}

/**
 * Passages for the prompt of a model that cannot search, found for this question as with `forceRag`.
 * @param known passages that the prompt contains already
 * @param citations gets the passages
 */
export async function passagesForPrompt(
  scope: Scope,
  { chat, assistant, configuration, question }: TurnParts,
  known: readonly Passage[],
  citations: JsonObject[],
): Promise<string> {
  const { isRagEnabled, preserveRagResult } = configuration;
  if (!isRagEnabled) return "";
  const found = await scope.of(Knowledge).find(question, assistant.id, configuration);
  const fresh = found.filter(({ text }) => !known.some((passage) => passage.text === text));
  if (preserveRagResult && fresh.length > 0)
    await storePassages(scope, chat.id, [...fresh, ...known].slice(0, MAX_PRESERVED));
  citations.push(...fresh.map(citationOf));
  return promptText(fresh);
}

/** The part of the prompt with the passages; empty without any. */
export const promptText = (found: readonly Passage[]): string =>
  found.length === 0
    ? ""
    : `What you know:\n${found.map(({ text, source }) => `[${source}] ${text}`).join("\n\n")}`;

const storePassages = (scope: Scope, id: string, found: readonly Passage[]): PromiseLike<unknown> =>
  scope
    .table("chats")
    .where({ id })
    .update({ notes: JSON.stringify({ found }) });

/** What the local model reads of the assistant. @param citations gets the passages that it quotes */
export const knowledgeForLocal = (
  scope: Scope,
  parts: TurnParts,
  citations: JsonObject[],
): Pick<ModelRequest, "quote" | "topics" | "texts"> => ({
  quote: (question) => quoteForLocal(scope, parts, question, citations),
  topics: () => scope.of(Knowledge).topics(parts.question, parts.assistant.id, parts.configuration),
  texts: () => textsForLocal(scope, parts),
});

/** The text that answers a question without a model. It is cited, and never comes from the prompt. */
async function quoteForLocal(
  scope: Scope,
  { assistant, configuration }: TurnParts,
  question: string,
  citations: JsonObject[],
): Promise<string | undefined> {
  const passage = await scope.of(Knowledge).quote(question, assistant.id, configuration);
  if (passage && !citations.some(({ text }) => text === passage.text)) citations.push(citationOf(passage));
  return passage?.text;
}

/** The texts whose language a local answer has: the greeting, then what it quotes, the longest first, then the prompt. */
async function textsForLocal(scope: Scope, { chat, assistant, configuration }: TurnParts): Promise<string[]> {
  const { initialMessage, resources, prompt } = configuration;
  const files = await scope.of(Knowledge).beginnings(assistant.id, configuration);
  const quoted = [resources, files.join("\n")].sort((a, b) => b.length - a.length);
  const values = valuesOf(chat.variables, assistant);
  return [fill(initialMessage, values), ...quoted, fill(prompt, values)];
}

/** A function by which the model searches the assistant's knowledge. */
export function searchTool(
  scope: Scope,
  { chat, assistant, configuration }: TurnParts,
  citations: JsonObject[],
): InternalTool {
  const query = { type: "string", description: "What to look for, in a few words." };
  return {
    tool: {
      name: "search_knowledge",
      description:
        "Looks something up in what the assistant knows. Use it before saying that something is unknown.",
      parameters: { type: "object", properties: { query }, required: ["query"] },
    },
    run: async (query) => {
      const found = await scope.of(Knowledge).find(query, assistant.id, configuration);
      citations.push(...found.map(citationOf));
      if (configuration.preserveRagResult && found.length > 0) await storePassages(scope, chat.id, found);
      return found.length > 0
        ? found.map(({ text, source }) => `[${source}] ${text}`).join("\n\n")
        : "Nothing was found.";
    },
  };
}

export const citationOf = ({ text, source, fileId, page }: Passage): JsonObject => ({
  source,
  text: text.slice(0, 300).toWellFormed(),
  ...(fileId !== undefined && { fileId }),
  ...(page !== undefined && { page }),
});
