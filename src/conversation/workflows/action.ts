import { PinnedAssistants } from "../../assistants/versions/pinned-assistants";
import type { ChatRow } from "../../chats/chats/chats";
import { Messages } from "../../chats/chats/messages";
import { KIND_OF } from "../../assistants/configurations/configurations";
import type { DeclaredFunction } from "../../assistants/configurations/functions";
import type { JsonObject } from "../../platform/json/json-object";
import { callFunction, declaredFunctions, type FunctionAnswer } from "../functions/functions";
import { callServerTool, findTool, MAX_AGE_MS, type ServerTool } from "../functions/server-tools";
import type { ToolAnswer } from "../../platform/ports/tool-client";
import { WHOLE_PLACEHOLDER } from "../../assistants/configurations/variable-names";
import { fillDeep, type Values } from "../functions/variables";
import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import { Events } from "../../events/events/events";
import type { WorkflowNode } from "./flow";
import { setVariables, variablesOf } from "./flow-variables";
import type { NodeOutcome } from "./route";

const NUMBER = /^-?\d+(\.\d+)?$/;

/** Metadata of the messages of a node. */
export const metadataOf = ({ id, name }: WorkflowNode): JsonObject => ({
  workflowNodeId: id,
  workflowNodeName: name,
});

/** A function of a configuration, or a tool of an MCP server. */
type Callable = DeclaredFunction | ServerTool;

/** The answer of a function. `text` is its reply, or why there is none. */
type Reply = Pick<FunctionAnswer, "text" | "failed">;

/** A call as stored before the request to the function. */
interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
  readonly reply?: Reply;
}

/**
 * Calls the function of an ACTION node, and stores call and reply in the chat. After a crash a stored reply is used;
 * without one the call is repeated with the same id and arguments.
 * @param isResumed whether the chat was at this node before
 * @returns undefined if the chat has ended or another process has moved it
 */
export async function act(
  scope: Scope,
  chat: ChatRow,
  node: WorkflowNode,
  values: Values,
  isResumed: boolean,
): Promise<{ chat: ChatRow; outcome: NodeOutcome } | undefined> {
  const declared = await functionOf(scope, chat, node, values);
  const storedCall = isResumed ? await lastCall(scope, chat, node) : undefined;
  const call = storedCall ?? newCall(node, declared, values);
  if (!storedCall && !(await storeCall(scope, chat, node, call))) return undefined;
  const { failed, text } =
    call.reply ??
    (await storeReply(scope, chat, node, call, await callIfDeclared(scope, declared, call, chat.id)));
  const movedChat = { ...chat, workflowNodeId: node.id };
  if (failed) return { chat: movedChat, outcome: {} };
  const updatedChat =
    node.resultVariable === null
      ? movedChat
      : await setVariables(scope, movedChat, variablesOf(node.resultVariable, text));
  return { chat: updatedChat, outcome: { called: call.name } };
}

function newCall(node: WorkflowNode, declared: Callable | ToolAnswer | undefined, values: Values): Call {
  const args =
    declared && "parameters" in declared ? argumentsOf(node.arguments, declared, values) : node.arguments;
  return { id: `call_${newId()}`, name: node.functionName ?? "", arguments: args };
}

/** The last call of a chat, if it is of this node. A call and the node of the chat are stored in one transaction. */
async function lastCall(
  scope: Scope,
  { id: chatId }: ChatRow,
  node: WorkflowNode,
): Promise<Call | undefined> {
  const calls = scope.table("messages").where({ chatId, role: "ASSISTANT" }).whereNotNull("toolCalls");
  const [message] = await calls.orderBy("sequence", "desc").limit(1);
  if (message?.metadata.workflowNodeId !== node.id) return undefined;
  const [call] = message.toolCalls as unknown as Call[]; // as `storeCall` stored it
  if (!call || call.name !== node.functionName) return undefined;
  const reply = await replyTo(scope, chatId, call);
  return { ...call, ...(reply && { reply }) };
}

async function replyTo(scope: Scope, chatId: string, { id: toolCallId }: Call): Promise<Reply | undefined> {
  const [message] = await scope.table("messages").where({ chatId, toolCallId }).limit(1);
  return message && { text: message.content ?? "", failed: message.metadata.failed === true };
}

/** Moves the chat to the node and stores its call. @returns false if another process has moved the chat */
const storeCall = (scope: Scope, chat: ChatRow, node: WorkflowNode, call: Call): Promise<boolean> =>
  scope.transaction(async (scope) => {
    const { id, workflowNodeId } = chat;
    const unmoved = scope.table("chats").where({ id, workflowNodeId }).whereNot({ status: "ended" });
    if ((await unmoved.update({ workflowNodeId: node.id })) === 0) return false;
    await postNodeMessage(scope, chat, node, { role: "ASSISTANT", toolCalls: [{ ...call }] });
    await scope.of(Events).functionCalled(chat, call.name, call.arguments);
    return true;
  });

async function callIfDeclared(
  scope: Scope,
  declared: Callable | ToolAnswer | undefined,
  call: Call,
  chatId: string,
): Promise<Reply> {
  if (declared && "failed" in declared) return declared;
  if (!declared) return { failed: true, text: `There is no function ${call.name}.` };
  if ("server" in declared) return callServerTool(scope, declared, call, chatId);
  return callFunction(scope, declared, call.id, call.arguments);
}

/** Stores a reply, once: another server may have made the same call. @returns the stored reply */
const storeReply = (
  scope: Scope,
  chat: ChatRow,
  node: WorkflowNode,
  call: Call,
  { text: content, failed }: Reply,
): Promise<Reply> =>
  scope.transaction(async (scope) => {
    await scope.table("chats").where({ id: chat.id }).forUpdate();
    const stored = await replyTo(scope, chat.id, call);
    if (!stored)
      await postNodeMessage(scope, chat, node, { role: "TOOL", content, toolCallId: call.id, failed });
    return stored ?? { text: content, failed };
  });

/** The function of the chat's channel, else of another channel of the assistant, else a tool of its MCP servers, or why they cannot be used. */
async function functionOf(
  scope: Scope,
  chat: ChatRow,
  { assistantId, functionName }: WorkflowNode,
  values: Values,
): Promise<Callable | ToolAnswer | undefined> {
  if (assistantId === null) return undefined;
  const pinned = scope.of(PinnedAssistants);
  const assistant = await pinned.in(chat, assistantId);
  for (const kind of new Set([KIND_OF[chat.channel], "voice", "sms", "chat"] as const)) {
    const configuration = await pinned.configuration(kind, assistant);
    const found = (await declaredFunctions(scope, configuration, values)).find(
      ({ name }) => name === functionName,
    );
    if (found) return found;
  }
  return findTool(scope, assistant, functionName ?? "", MAX_AGE_MS.later);
}

/** Fills variables into the arguments and converts them to the types that the function declares. */
function argumentsOf(args: JsonObject, { parameters }: Callable, values: Values): JsonObject {
  const properties = (parameters.properties ?? {}) as Record<string, JsonObject>; // checked when the function was declared
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
      return [name, convert(variableValue(value, values) ?? fillDeep(value, values), type)];
    }),
  );
}

/** The value of a variable, unconverted, if a text is a single placeholder and the value fits. */
function variableValue(value: unknown, values: Values): unknown {
  const name = typeof value === "string" ? WHOLE_PLACEHOLDER.exec(value)?.[1] : undefined;
  return name === undefined || values.textFor(name) === "" ? undefined : values.of(name);
}

function convert(value: unknown, type: unknown): unknown {
  if (typeof value !== "string") return type === "string" && value !== null ? JSON.stringify(value) : value;
  if (type === "number" && NUMBER.test(value.trim())) return Number(value);
  if (type === "boolean" && /^(true|false)$/i.test(value.trim()))
    return value.trim().toLowerCase() === "true";
  return value;
}

interface NodeMessage {
  readonly role: "ASSISTANT" | "TOOL";
  readonly content?: string;
  readonly toolCalls?: JsonObject[];
  readonly toolCallId?: string;
  readonly failed?: boolean;
}

async function postNodeMessage(
  scope: Scope,
  { id, channel }: ChatRow,
  node: WorkflowNode,
  { failed = false, ...content }: NodeMessage,
): Promise<void> {
  const metadata = { ...metadataOf(node), ...(failed && { failed }) };
  await scope.of(Messages).postIfLive({ ...content, aiChatId: id, channel, metadata });
}
