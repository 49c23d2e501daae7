import type { Assistant } from "../assistants/assistants";
import { Assistants } from "../assistants/assistants";
import type { ModelEntry } from "../catalog/load-catalog";
import type { ChatRow } from "../chats/chats";
import { Messages, type Message } from "../chats/messages";
import {
  Configurations,
  KIND_OF,
  type ChannelConfiguration,
  type JsonObject,
} from "../configurations/configurations";
import type { Scope } from "../database/scope";
import type { ModelMessage, ModelRequest, ModelTool } from "../ports/text-model";
import { EndUsers } from "./end-users";
import { toolsOf } from "./functions";
import { Knowledge, type Passage } from "./knowledge";
import { ModelCredentials } from "./model-credentials";
import { fill } from "./variables";

/** A function of ours that the model may call. */
interface OwnTool {
  readonly tool: ModelTool;
  readonly run: (argument: string) => Promise<string>;
}

/** All that a turn needs, read before the first question to the model. */
export interface Prepared {
  readonly chat: ChatRow;
  readonly configuration: ChannelConfiguration;
  /** Place of the last message that this turn answers. */
  readonly upTo: number;
  readonly messages: readonly ModelMessage[];
  readonly request: Omit<ModelRequest, "messages" | "signal">;
  readonly search: OwnTool | undefined;
  readonly remember: OwnTool | undefined;
  /** What the answer rests on; searches of the model add to it. */
  readonly citations: JsonObject[];
  /** Stands on every message of the turn. */
  readonly metadata: JsonObject;
}

/** Most messages of the history that the model sees. */
const HISTORY = 200;
/** Without RAG the resources stand in the prompt, up to this many characters. */
const RESOURCES = 16_000;

/** Undefined when there is nothing to answer: the chat has ended, or a turn before this one has answered. */
export async function prepareTurn(scope: Scope, chatId: string): Promise<Prepared | undefined> {
  const [chat] = (await scope.table("chats").where({ id: chatId })) as (ChatRow & Turns)[];
  if (!chat || chat.status === "ended") return undefined;
  const history = await scope.of(Messages).last(chatId, HISTORY);
  const upTo = history.findLast(({ role }) => role === "USER")?.sequence ?? 0;
  if (upTo <= chat.answeredSequence) return undefined;
  const assistant = await scope.of(Assistants).evenDeleted(chat.assistantId);
  const configuration = await scope.of(Configurations).of(KIND_OF[chat.channel], assistant);
  const said = history.filter(({ role, sequence }) => role === "USER" && sequence > chat.answeredSequence);
  const question = said.map(({ content }) => content ?? "").join("\n");
  return assemble(scope, { chat, assistant, configuration, history, question, upTo });
}

interface Turns {
  readonly answeredSequence: number;
  readonly notes: { readonly found?: readonly Passage[] };
}
interface Parts {
  readonly chat: ChatRow & Turns;
  readonly assistant: Assistant;
  readonly configuration: ChannelConfiguration;
  readonly history: readonly Message[];
  readonly question: string;
  readonly upTo: number;
}

async function assemble(scope: Scope, parts: Parts): Promise<Prepared> {
  const { chat, assistant, configuration, history, question, upTo } = parts;
  const values = [chat.variables, assistant.variables];
  const model = modelOf(scope, configuration.model);
  const credential = await scope.of(ModelCredentials).for(model);
  const found = await foundBefore(scope, parts);
  const citations: JsonObject[] = found.map(citation);
  const search = configuration.isRagEnabled ? searchTool(scope, parts, citations) : undefined;
  const remember = chat.uniqueId === null ? undefined : rememberTool(scope, chat.assistantId, chat.uniqueId);
  const memory =
    chat.uniqueId === null ? "" : await scope.of(EndUsers).memory(chat.assistantId, chat.uniqueId);
  const tools = [
    ...toolsOf(configuration, values),
    ...[search, remember].flatMap((own) => (own ? [own.tool] : [])),
  ];
  return {
    chat,
    configuration,
    upTo,
    messages: history.flatMap(toModel),
    search,
    remember,
    citations,
    metadata: credential ? { model: configuration.model } : { local: true },
    request: {
      model,
      credential,
      system: systemText(fill(configuration.prompt, values), configuration, found, memory),
      tools,
      temperature: configuration.temperature,
      maxTokens: configuration.maxTokensOutput,
      retrieve: async () => retrieveForLocal(scope, parts, question, citations),
    },
  };
}

/** What is looked up before the model is asked: always, or when the question touches a topic; and what is kept in view. */
async function foundBefore(scope: Scope, { chat, configuration, question }: Parts): Promise<Passage[]> {
  if (!configuration.isRagEnabled) return [];
  const { forceRag, ragTriggerTopics, preserveRagResult } = configuration;
  const topics = ragTriggerTopics
    .split(/[,\n]/)
    .map((topic) => topic.trim().toLowerCase())
    .filter(Boolean);
  const touched = topics.some((topic) => question.toLowerCase().includes(topic));
  const kept = preserveRagResult ? (chat.notes.found ?? []) : [];
  const fresh =
    forceRag || touched ? await scope.of(Knowledge).find(question, chat.assistantId, configuration) : [];
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

async function retrieveForLocal(
  scope: Scope,
  { chat, assistant, configuration }: Parts,
  question: string,
  citations: JsonObject[],
): Promise<string[]> {
  const knowledge = scope.of(Knowledge);
  const found = await knowledge.find(question, chat.assistantId, configuration);
  const passages =
    found.length > 0
      ? found
      : await knowledge.findInPrompt(
          question,
          fill(configuration.prompt, [chat.variables, assistant.variables]),
        );
  citations.splice(0, citations.length, ...passages.slice(0, 1).map(citation));
  return passages.map(({ text }) => text);
}

function searchTool(scope: Scope, { chat, configuration }: Parts, citations: JsonObject[]): OwnTool {
  const query = { type: "string", description: "What to look for, in a few words." };
  return {
    tool: {
      name: "search_knowledge",
      description:
        "Looks something up in what the assistant knows. Use it before saying that something is unknown.",
      parameters: { type: "object", properties: { query }, required: ["query"] },
    },
    run: async (wanted) => {
      const found = await scope.of(Knowledge).find(wanted, chat.assistantId, configuration);
      citations.push(...found.map(citation));
      if (configuration.preserveRagResult && found.length > 0) await keep(scope, chat.id, found);
      return found.length > 0
        ? found.map(({ text, source }) => `[${source}] ${text}`).join("\n\n")
        : "Nothing was found.";
    },
  };
}

function rememberTool(scope: Scope, assistantId: string, uniqueId: string): OwnTool {
  const fact = { type: "string", description: "One short sentence about the person." };
  return {
    tool: {
      name: "remember_fact",
      description:
        "Keeps a lasting fact about the person for later conversations, such as a name or a preference.",
      parameters: { type: "object", properties: { fact }, required: ["fact"] },
    },
    run: async (text) => {
      await scope.of(EndUsers).remember(assistantId, uniqueId, text);
      return "Remembered.";
    },
  };
}

function modelOf({ ports }: Scope, id: string): ModelEntry {
  const entry = ports.catalog.models.find((model) => model.id === id);
  if (!entry) throw new Error(`The catalogue has no model ${id}.`);
  return entry;
}

function systemText(
  prompt: string,
  { isRagEnabled, resources }: ChannelConfiguration,
  found: readonly Passage[],
  memory: string,
): string {
  const known = isRagEnabled
    ? found.map(({ text, source }) => `[${source}] ${text}`).join("\n\n")
    : resources.slice(0, RESOURCES);
  return [
    prompt,
    ...(known === "" ? [] : [`What you know:\n${known}`]),
    ...(memory === "" ? [] : [`What you remember of this person:\n${memory}`]),
  ].join("\n\n");
}

const citation = ({ text, source, fileId }: Passage): JsonObject => ({
  source,
  text: text.slice(0, 300),
  ...(fileId !== undefined && { fileId }),
});

/** SYSTEM messages are shown to the model as what they are: a note, not the person's words. */
function toModel({ role, content, toolCalls, toolCallId, metadata }: Message): ModelMessage[] {
  const text = content ?? "";
  if (role === "USER") return [{ role: "user", content: text }];
  if (role === "SYSTEM") return text === "" ? [] : [{ role: "user", content: `(Note: ${text})` }];
  if (role === "TOOL") {
    const name = typeof metadata.name === "string" ? metadata.name : "function";
    return toolCallId === null
      ? [{ role: "user", content: `(Note: ${text})` }]
      : [{ role: "tool", content: text, answers: { id: toolCallId, name } }];
  }
  const calls = (toolCalls ?? []).map((call) => ({
    id: String(call.id),
    name: String(call.name),
    arguments: call.arguments,
  }));
  return text === "" && calls.length === 0
    ? []
    : [{ role: "assistant", content: text, ...(calls.length > 0 && { calls }) }];
}
