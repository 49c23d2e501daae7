import type { ModelEntry } from "../../platform/catalog/load-catalog";
import { Chats, type ChatRow } from "../../chats/chats/chats";
import { Messages, type Message } from "../../chats/chats/messages";
import {
  Configurations,
  KIND_OF,
  type ChannelConfiguration,
} from "../../assistants/configurations/configurations";
import { RESOURCES_IN_PROMPT } from "../../assistants/assistants/warnings";
import type { Scope } from "../../platform/database/scope";
import { Knowledge, type Passage } from "../../assistants/knowledge/knowledge";
import type { JsonObject } from "../../platform/json/json-object";
import type { ModelMessage, ModelRequest, ModelTool } from "../../platform/ports/text-model";
import { EndUsers, type ChatOfPerson } from "../../chats/chats/end-users";
import type { Course } from "../workflows/course";
import { conclude, greet, speakerOf, type Speaker } from "../workflows/speaker";
import { toolsOf } from "../functions/functions";
import { citation, foundBefore, retrieveForLocal, searchTool } from "./look-up";
import { asAnswered, functionsSoFar, toModel, wordsOf } from "./history";
import { ModelCredentials } from "../../account/organization/model-credentials";
import { fill } from "../functions/variables";

/** A function of ours that the model may call. */
export interface OwnTool {
  readonly tool: ModelTool;
  readonly run: (argument: string) => Promise<string>;
}

/** All that a turn needs, read before the first question to the model. */
export interface Prepared {
  readonly chat: ChatRow;
  /** Where a chat that runs a workflow stands. */
  readonly course?: Course;
  readonly configuration: ChannelConfiguration;
  /** Place of the last message that was answered before this turn. */
  readonly answered: number;
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

/** What was said in a chat and is to be answered. */
interface Question {
  readonly speaker: Speaker;
  readonly history: readonly Message[];
  readonly upTo: number;
  /** Whether the conversation has come to the speaker in the turn that answers it. */
  readonly handedOver: boolean;
}

/** Undefined when there is nothing to answer: the chat has ended, or a turn before this one has answered. */
export async function openQuestion(scope: Scope, chatId: string): Promise<Question | undefined> {
  const read = () => scope.of(Messages).history(chatId);
  const credentials = scope.of(ModelCredentials).read();
  const [chat, early] = await Promise.all([scope.of(Chats).row(chatId), read(), credentials]);
  if (!chat || chat.status === "ended") return undefined;
  const { channel, assistantId, workflowId } = chat;
  // Read beside the assistant, for when it is asked for.
  const own = () => scope.of(Configurations).of(KIND_OF[channel], { id: assistantId, template: false });
  const [speaker] = await Promise.all([speakerOf(scope, chat), workflowId === null && own()]);
  if ("ending" in speaker) return void (await conclude(scope, chat, speaker.ending));
  // A workflow may first call a function, and say so.
  const history = workflowId === null ? early : await read();
  const upTo = history.findLast(({ role }) => role === "USER")?.sequence ?? 0;
  if (speaker.chat.workflowNodeId !== chat.workflowNodeId && !history.some(isSaid))
    await greet(scope, speaker);
  return upTo <= chat.answeredSequence ? undefined : { speaker, history, upTo, handedOver: false };
}

const isSaid = ({ role, content }: Message): boolean =>
  (role === "USER" || role === "ASSISTANT") && content !== null;

/** The same turn once the conversation has come to another speaker. */
export async function prepareAnew(scope: Scope, speaker: Speaker, upTo: number): Promise<Prepared> {
  const history = await scope.of(Messages).history(speaker.chat.id);
  return prepare(scope, { speaker, history, upTo, handedOver: true });
}

/** Reads all that the answer needs. */
export async function prepare(scope: Scope, asked: Question): Promise<Prepared> {
  const { speaker, history, upTo, handedOver } = asked;
  const chat = speaker.chat as ChatRow & Turns; // a stored row has the columns of turns too
  const configuration = await scope.of(Configurations).of(KIND_OF[chat.channel], speaker.assistant);
  const said = history.filter(({ role, sequence }) => role === "USER" && sequence > chat.answeredSequence);
  const question = said.map(({ content }) => content ?? "").join("\n");
  return assemble(scope, { ...speaker, chat, configuration, history, question, upTo, handedOver });
}

interface Turns {
  readonly notes: { readonly found?: readonly Passage[] };
}
export interface Parts extends Speaker {
  readonly chat: ChatRow & Turns;
  readonly configuration: ChannelConfiguration;
  readonly history: readonly Message[];
  readonly question: string;
  readonly upTo: number;
  /** Whether the conversation has come to this speaker in the turn that it answers now. */
  readonly handedOver: boolean;
}

/** Reads what a turn needs beside what was said. */
export async function assemble(scope: Scope, parts: Parts): Promise<Prepared> {
  const { chat, assistant, course, configuration, history, question, upTo } = parts;
  const values = [chat.variables, assistant.variables];
  const model = modelOf(scope, configuration.model);
  const person = chat.uniqueId === null ? undefined : { ...chat, uniqueId: chat.uniqueId };
  const [credential, found, memory] = await Promise.all([
    scope.of(ModelCredentials).for(model),
    foundBefore(scope, parts),
    person ? scope.of(EndUsers).memory(assistant.id, person) : "",
  ]);
  const citations: JsonObject[] = found.map(citation);
  const search = configuration.isRagEnabled ? searchTool(scope, parts, citations) : undefined;
  const remember = person && rememberTool(scope, assistant.id, person);
  const opening = fill(configuration.initialMessage, values).trim() || "Let's go on.";
  return {
    chat,
    ...(course && { course }),
    configuration,
    answered: chat.answeredSequence,
    upTo,
    messages: course ? wordsOf(history) : asAnswered(history, chat.answeredSequence).flatMap(toModel),
    search,
    remember,
    citations,
    metadata: { ...(credential ? { model: configuration.model } : { local: true }), ...course?.metadata },
    request: {
      model,
      credential,
      system: systemText(promptOf(parts), parts, found, memory),
      tools: await offered(scope, parts, [search, remember]),
      temperature: configuration.temperature,
      maxTokens: configuration.maxTokensOutput,
      ...(parts.handedOver && { opening }),
      retrieve: async () => retrieveForLocal(scope, parts, question, promptOf(parts), citations),
      topics: async () => scope.of(Knowledge).topics(question, assistant.id, configuration),
    },
  };
}

/** What the assistant is told to do: by its configuration, and by the node of a workflow. */
function promptOf({ chat, assistant, course, configuration }: Parts): string {
  const instructions = course?.node.instructions ?? "";
  const text = [configuration.prompt, instructions].filter(Boolean).join("\n\n");
  return fill(text, [chat.variables, assistant.variables]);
}

/** Ways on in a workflow come before a function of the same name. */
async function offered(
  scope: Scope,
  { chat, assistant, course, configuration }: Parts,
  own: (OwnTool | undefined)[],
): Promise<ModelTool[]> {
  const ways = (course?.transitions ?? []).map(({ tool }) => tool);
  const tools = [
    ...(await toolsOf(scope, configuration, [chat.variables, assistant.variables])),
    ...own.flatMap((one) => (one ? [one.tool] : [])),
  ];
  return [...ways, ...tools.filter(({ name }) => !ways.some((way) => way.name === name))];
}

function rememberTool(scope: Scope, assistantId: string, chat: ChatOfPerson): OwnTool {
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

function modelOf({ ports }: Scope, id: string): ModelEntry {
  const entry = ports.catalog.models.find((model) => model.id === id);
  if (!entry) throw new Error(`The catalogue has no model ${id}.`);
  return entry;
}

function systemText(
  prompt: string,
  { configuration: { isRagEnabled, resources }, course, history }: Parts,
  found: readonly Passage[],
  memory: string,
): string {
  const known = isRagEnabled
    ? found.map(({ text, source }) => `[${source}] ${text}`).join("\n\n")
    : resources.slice(0, RESOURCES_IN_PROMPT);
  const functions = course ? functionsSoFar(history) : "";
  return [
    prompt,
    ...(known === "" ? [] : [`What you know:\n${known}`]),
    ...(memory === "" ? [] : [`What you remember of this person:\n${memory}`]),
    ...(functions === "" ? [] : [functions]),
  ].join("\n\n");
}
