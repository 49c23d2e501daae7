import type { Scope } from "../../platform/database/scope";
import { Knowledge, type Passage } from "../../assistants/knowledge/knowledge";
import type { JsonObject } from "../../platform/json/json-object";
import type { OwnTool, Parts } from "./prepare-turn";

/** What is looked up before the model is asked: always, or when the question touches a topic; and what is kept in view. */
export async function foundBefore(
  scope: Scope,
  { chat, assistant, configuration, question }: Parts,
): Promise<Passage[]> {
  if (!configuration.isRagEnabled) return [];
  const { forceRag, ragTriggerTopics, preserveRagResult } = configuration;
  const topics = ragTriggerTopics
    .split(/[,\n]/)
    .map((topic) => topic.trim().toLowerCase())
    .filter(Boolean);
  const touched = topics.some((topic) => question.toLowerCase().includes(topic));
  const kept = preserveRagResult ? (chat.notes.found ?? []) : [];
  const fresh =
    forceRag || touched ? await scope.of(Knowledge).find(question, assistant.id, configuration) : [];
  const found = [...new Map([...fresh, ...kept].map((passage) => [passage.text, passage])).values()].slice(
    0,
    8,
  );
  if (preserveRagResult && fresh.length > 0) await keep(scope, chat.id, found);
  return found;
}

const keep = (scope: Scope, id: string, found: readonly Passage[]): PromiseLike<unknown> =>
  scope
    .table("chats")
    .where({ id })
    .update({ notes: JSON.stringify({ found }) });

/** What the local model answers with. @param prompt the instructions, which may know something too */
export async function retrieveForLocal(
  scope: Scope,
  { assistant, configuration }: Parts,
  question: string,
  prompt: string,
  citations: JsonObject[],
): Promise<string[]> {
  const knowledge = scope.of(Knowledge);
  const found = await knowledge.findByWords(question, assistant.id, configuration);
  const passages = found.length > 0 ? found : await knowledge.findInPrompt(question, prompt);
  citations.splice(0, citations.length, ...passages.slice(0, 1).map(citation));
  return passages.map(({ text }) => text);
}

/** Lets the model look something up. */
export function searchTool(
  scope: Scope,
  { chat, assistant, configuration }: Parts,
  citations: JsonObject[],
): OwnTool {
  const query = { type: "string", description: "What to look for, in a few words." };
  return {
    tool: {
      name: "search_knowledge",
      description:
        "Looks something up in what the assistant knows. Use it before saying that something is unknown.",
      parameters: { type: "object", properties: { query }, required: ["query"] },
    },
    run: async (wanted) => {
      const found = await scope.of(Knowledge).find(wanted, assistant.id, configuration);
      citations.push(...found.map(citation));
      if (configuration.preserveRagResult && found.length > 0) await keep(scope, chat.id, found);
      return found.length > 0
        ? found.map(({ text, source }) => `[${source}] ${text}`).join("\n\n")
        : "Nothing was found.";
    },
  };
}

export const citation = ({ text, source, fileId, page }: Passage): JsonObject => ({
  source,
  text: text.slice(0, 300).toWellFormed(),
  ...(fileId !== undefined && { fileId }),
  ...(page !== undefined && { page }),
});
