import { Chats, type ChatRow } from "../../chats/chats/chats";
import { Messages, type Message } from "../../chats/chats/messages";
import { KIND_OF } from "../../assistants/configurations/configurations";
import { PinnedAssistants, type ChannelConfiguration } from "../../assistants/versions/pinned-assistants";
import { MAX_RESOURCES_IN_PROMPT } from "../../assistants/assistants/warnings";
import type { Scope } from "../../platform/database/scope";
import type { Passage } from "../../assistants/knowledge/knowledge";
import type { JsonObject } from "../../platform/json/json-object";
import type { ModelMessage, ModelRequest, ModelTool } from "../../platform/ports/text-model";
import { EndUsers, type EndUserChat } from "../../chats/chats/end-users";
import type { WorkflowPosition } from "../workflows/workflow-position";
import { conclude, greet, speakerOf, type Speaker } from "../workflows/speaker";
import { toolsOf } from "../functions/functions";
import { addTools, maxAgeIn, serverTools, type ServerTool } from "../functions/server-tools";
import {
  citationOf,
  knowledgeForLocal,
  passagesForPrompt,
  promptText,
  searchBeforeAnswer,
  searchTool,
} from "./look-up";
import { orderForModel, functionResults, toModel, withoutFunctions } from "./history";
import { ModelCredentials } from "../../account/organization/model-credentials";
import { ModelMappings } from "../../account/organization/model-mappings";
import { fill, valuesOf } from "../functions/variables";

/** A function for the model that the service itself implements. */
export interface InternalTool {
  readonly tool: ModelTool;
  readonly run: (argument: string) => Promise<string>;
}

/** The data of a turn, read before the first request to the model. */
export interface PreparedTurn {
  readonly chat: ChatRow;
  /** Set if the chat runs a workflow. */
  readonly position?: WorkflowPosition;
  readonly configuration: ChannelConfiguration;
  /** Sequence of the last message answered before this turn. */
  readonly answered: number;
  /** Sequence of the last message that this turn answers. */
  readonly upTo: number;
  readonly messages: readonly ModelMessage[];
  readonly request: Omit<ModelRequest, "messages" | "signal">;
  /** Text for the prompt of a model that cannot search; its passages are cited. */
  readonly passages: () => Promise<string>;
  readonly search: InternalTool | undefined;
  readonly remember: InternalTool | undefined;
  /** Tools of MCP servers, under their names in the request. */
  readonly serverTools: readonly ServerTool[];
  /** Sources of the answer; searches of the model add to them. */
  readonly citations: JsonObject[];
  /** Metadata of every message of the turn. */
  readonly metadata: JsonObject;
}

/** An unanswered question in a chat. */
interface OpenQuestion {
  readonly speaker: Speaker;
  readonly history: readonly Message[];
  readonly upTo: number;
  /** Whether a workflow has handed the conversation to this speaker during the turn. */
  readonly handedOver: boolean;
}

/** The unanswered question of a chat; undefined if the chat has ended or an earlier turn has answered. */
export async function openQuestion(scope: Scope, chatId: string): Promise<OpenQuestion | undefined> {
  const read = () => scope.of(Messages).history(chatId);
  const [chat, early] = await Promise.all([
    scope.of(Chats).row(chatId),
    read(),
    scope.of(ModelCredentials).read(),
    scope.of(ModelMappings).read(),
  ]);
  if (!chat || chat.status === "ended") return undefined;
  const { channel, assistantId, workflowId } = chat;
  // Read in parallel with the assistant; loaders keep the result.
  const pinned = scope.of(PinnedAssistants);
  const own = async () =>
    pinned.configuration(KIND_OF[channel], {
      id: assistantId,
      template: false,
      pin: await pinned.pinIn(chat),
    });
  const [speaker] = await Promise.all([speakerOf(scope, chat), workflowId === null && own()]);
  if ("ending" in speaker) return void (await conclude(scope, chat, speaker.ending));
  // A workflow may have called a function first and posted messages.
  const history = workflowId === null ? early : await read();
  const upTo = history.findLast(({ role }) => role === "USER")?.sequence ?? 0;
  if (speaker.chat.workflowNodeId !== chat.workflowNodeId && !history.some(isSpoken))
    await greet(scope, speaker);
  return upTo <= chat.answeredSequence ? undefined : { speaker, history, upTo, handedOver: false };
}

const isSpoken = ({ role, content }: Message): boolean =>
  (role === "USER" || role === "ASSISTANT") && content !== null;

/** Prepares the rest of a turn in which a workflow has handed the conversation to another speaker. */
export async function prepareAfterHandover(
  scope: Scope,
  speaker: Speaker,
  upTo: number,
): Promise<PreparedTurn> {
  const history = await scope.of(Messages).history(speaker.chat.id);
  return prepare(scope, { speaker, history, upTo, handedOver: true });
}

/** Reads the data that the answer needs. */
export async function prepare(scope: Scope, openQuestion: OpenQuestion): Promise<PreparedTurn> {
  const { speaker, history, upTo, handedOver } = openQuestion;
  const chat = speaker.chat as ChatRow & TurnColumns; // a stored row has these columns too
  const configuration = await scope
    .of(PinnedAssistants)
    .configuration(KIND_OF[chat.channel], speaker.assistant);
  const unanswered = history.filter(
    ({ role, sequence }) => role === "USER" && sequence > chat.answeredSequence,
  );
  const question = unanswered.map(({ content }) => content ?? "").join("\n");
  return assemble(scope, { ...speaker, chat, configuration, history, question, upTo, handedOver });
}

interface TurnColumns {
  readonly notes: { readonly found?: readonly Passage[] };
}
export interface TurnParts extends Speaker {
  readonly chat: ChatRow & TurnColumns;
  readonly configuration: ChannelConfiguration;
  readonly history: readonly Message[];
  readonly question: string;
  readonly upTo: number;
  /** Whether a workflow has handed the conversation to this speaker during the turn. */
  readonly handedOver: boolean;
}

/** Reads everything else that a turn needs, and builds the request to the model. */
export async function assemble(scope: Scope, parts: TurnParts): Promise<PreparedTurn> {
  const { chat, assistant, position, configuration, upTo } = parts;
  const person = chat.uniqueId === null ? undefined : { ...chat, uniqueId: chat.uniqueId };
  const [{ model, credential }, found, memory, listed] = await Promise.all([
    scope.of(ModelMappings).for(configuration.model),
    searchBeforeAnswer(scope, parts),
    person ? scope.of(EndUsers).memory(assistant.id, person) : "",
    serverTools(scope, assistant, maxAgeIn(chat)),
  ]);
  const citations: JsonObject[] = credential ? found.map(citationOf) : [];
  const search = configuration.isRagEnabled ? searchTool(scope, parts, citations) : undefined;
  const remember = person && rememberTool(scope, assistant.id, person);
  const { all: tools, added } = await offeredTools(scope, parts, [search, remember], listed);
  let passages: Promise<string> | undefined;
  return {
    ...{ chat, configuration, upTo, search, remember, serverTools: added, citations },
    ...(position && { position }),
    answered: chat.answeredSequence,
    messages: messagesOf(parts),
    passages: () => (passages ??= passagesForPrompt(scope, parts, found, citations)),
    metadata: {
      ...(credential ? { model: configuration.model, modelName: model.model } : { local: true }),
      ...position?.metadata,
    },
    request: {
      model,
      credential,
      system: systemText(promptOf(parts), parts, found, memory),
      tools,
      temperature: configuration.temperature,
      maxTokens: configuration.maxTokensOutput,
      ...(parts.handedOver && { opening: openingOf(parts) }),
      ...knowledgeForLocal(scope, parts, citations),
    },
  };
}

const messagesOf = ({ position, history, chat }: TurnParts) =>
  position ? withoutFunctions(history) : orderForModel(history, chat.answeredSequence).flatMap(toModel);

/** The first words of an assistant that takes over the conversation. */
const openingOf = ({ chat, assistant, configuration }: TurnParts): string =>
  fill(configuration.initialMessage, valuesOf(chat.variables, assistant)).trim() || "Let's go on.";

/** The instructions of the configuration and of the workflow node, with variables filled in. */
function promptOf({ chat, assistant, position, configuration }: TurnParts): string {
  const instructions = position?.node.instructions ?? "";
  const text = [configuration.prompt, instructions].filter(Boolean).join("\n\n");
  return fill(text, valuesOf(chat.variables, assistant));
}

/** The tools for the model. A transition of the workflow replaces a function of the same name. */
async function offeredTools(
  scope: Scope,
  { chat, assistant, position, configuration }: TurnParts,
  internal: (InternalTool | undefined)[],
  listed: readonly ServerTool[],
): Promise<ReturnType<typeof addTools>> {
  const transitions = (position?.transitions ?? []).map(({ tool }) => tool);
  const tools = [
    ...(await toolsOf(scope, configuration, valuesOf(chat.variables, assistant))),
    ...internal.flatMap((one) => (one ? [one.tool] : [])),
  ];
  const own = [
    ...transitions,
    ...tools.filter(({ name }) => !transitions.some((transition) => transition.name === name)),
  ];
  return addTools(own, listed);
}

function rememberTool(scope: Scope, assistantId: string, chat: EndUserChat): InternalTool {
  const fact = { type: "string", description: "One short sentence about the person." };
  return {
    tool: {
      name: "remember_fact",
      description:
        "Keeps a lasting fact about the person for later conversations, such as a name or a preference.",
      parameters: { type: "object", properties: { fact }, required: ["fact"] },
    },
    run: async (text) => {
      await scope.of(EndUsers).remember(assistantId, chat, text);
      return "Remembered.";
    },
  };
}

function systemText(
  prompt: string,
  { configuration: { isRagEnabled, resources }, position, history }: TurnParts,
  found: readonly Passage[],
  memory: string,
): string {
  const resourcesText =
    resources === "" ? "" : `What you know:\n${resources.slice(0, MAX_RESOURCES_IN_PROMPT)}`;
  const known = isRagEnabled ? promptText(found) : resourcesText;
  const functions = position ? functionResults(history) : "";
  return [
    prompt,
    ...(known === "" ? [] : [known]),
    ...(memory === "" ? [] : [`What you remember of this person:\n${memory}`]),
    ...(functions === "" ? [] : [functions]),
  ].join("\n\n");
}
