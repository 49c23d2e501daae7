import { Assistants } from "../../assistants/assistants/assistants";
import type { ChatRow } from "../../chats/chats/chats";
import { Messages } from "../../chats/chats/messages";
import { Configurations, KIND_OF } from "../../assistants/configurations/configurations";
import type { DeclaredFunction } from "../../assistants/configurations/functions";
import type { JsonObject } from "../../platform/json/json-object";
import { callFunction, declaredFunctions, type FunctionAnswer } from "../functions/functions";
import { fillDeep } from "../functions/variables";
import { newId } from "../../platform/database/ids";
import type { Scope } from "../../platform/database/scope";
import { Events } from "../../events/events/events";
import type { WorkflowNode } from "./flow";
import { setVariables, variablesOf } from "./flow-variables";
import type { Happened, Sources } from "./route";

const WHOLE = /^\{([A-Za-z_][A-Za-z0-9_.]*)\}$/;
const NUMBER = /^-?\d+(\.\d+)?$/;

/** What stands on the messages of a node. */
export const metadataOf = ({ id, name }: WorkflowNode): JsonObject => ({
  workflowNodeId: id,
  workflowNodeName: name,
});

/** What a function answered; `text` is its reply, or why there is none. */
type Reply = Pick<FunctionAnswer, "text" | "failed">;

/** A call as it is stored, before the function is asked. */
interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
  readonly reply?: Reply;
}

/**
 * Calls the function of an ACTION node, and keeps in the chat what it was asked and what it answered. After a crash
 * an answer that was kept is used; without one the function is asked again, the same under the same id.
 * @param stands whether the chat has stood there before
 * @returns undefined when the chat has ended, or somebody else has moved it on
 */
export async function act(
  scope: Scope,
  chat: ChatRow,
  node: WorkflowNode,
  sources: Sources,
  stands: boolean,
): Promise<{ chat: ChatRow; happened: Happened } | undefined> {
  const declared = await functionOf(scope, chat, node, sources);
  const begun = stands ? await lastCall(scope, chat, node) : undefined;
  const call = begun ?? newCall(node, declared, sources);
  if (!begun && !(await begin(scope, chat, node, call))) return undefined;
  const { failed, text } =
    call.reply ?? (await keep(scope, chat, node, call, await ask(scope, declared, call)));
  const standing = { ...chat, workflowNodeId: node.id };
  if (failed) return { chat: standing, happened: {} };
  const kept =
    node.resultVariable === null
      ? standing
      : await setVariables(scope, standing, variablesOf(node.resultVariable, text));
  return { chat: kept, happened: { called: call.name } };
}

function newCall(node: WorkflowNode, declared: DeclaredFunction | undefined, sources: Sources): Call {
  const args = declared ? argumentsOf(node.arguments, declared, sources) : node.arguments;
  return { id: `call_${newId()}`, name: node.functionName ?? "", arguments: args };
}

/** The last call of a chat, where it is of this node: what a chat calls, and that it stands there, is stored at once. */
async function lastCall(
  scope: Scope,
  { id: chatId }: ChatRow,
  node: WorkflowNode,
): Promise<Call | undefined> {
  const calls = scope.table("messages").where({ chatId, role: "ASSISTANT" }).whereNotNull("toolCalls");
  const [asked] = await calls.orderBy("sequence", "desc").limit(1);
  if (asked?.metadata.workflowNodeId !== node.id) return undefined;
  const [call] = asked.toolCalls as unknown as Call[]; // as `begin` stored it
  if (!call || call.name !== node.functionName) return undefined;
  const reply = await replyTo(scope, chatId, call);
  return { ...call, ...(reply && { reply }) };
}

async function replyTo(scope: Scope, chatId: string, { id: toolCallId }: Call): Promise<Reply | undefined> {
  const [kept] = await scope.table("messages").where({ chatId, toolCallId }).limit(1);
  return kept && { text: kept.content ?? "", failed: kept.metadata.failed === true };
}

/** @returns false when the chat is no more where it was */
const begin = (scope: Scope, chat: ChatRow, node: WorkflowNode, call: Call): Promise<boolean> =>
  scope.transaction(async (scope) => {
    const { id, workflowNodeId } = chat;
    const there = scope.table("chats").where({ id, workflowNodeId }).whereNot({ status: "ended" });
    if ((await there.update({ workflowNodeId: node.id })) === 0) return false;
    await say(scope, chat, node, { role: "ASSISTANT", toolCalls: [{ ...call }] });
    await scope.of(Events).functionCalled(chat, call.name, call.arguments);
    return true;
  });

async function ask(scope: Scope, declared: DeclaredFunction | undefined, call: Call): Promise<Reply> {
  if (!declared) return { failed: true, text: `There is no function ${call.name}.` };
  return callFunction(scope, declared, call.id, call.arguments);
}

/** Keeps an answer, once: another server may have asked the same meanwhile. @returns the one that counts */
const keep = (
  scope: Scope,
  chat: ChatRow,
  node: WorkflowNode,
  call: Call,
  { text: content, failed }: Reply,
): Promise<Reply> =>
  scope.transaction(async (scope) => {
    await scope.table("chats").where({ id: chat.id }).forUpdate();
    const kept = await replyTo(scope, chat.id, call);
    if (!kept) await say(scope, chat, node, { role: "TOOL", content, toolCallId: call.id, failed });
    return kept ?? { text: content, failed };
  });

/** The function as the chat's channel has it, or else another one of the assistant's configurations. */
async function functionOf(
  scope: Scope,
  { channel }: ChatRow,
  { assistantId, functionName }: WorkflowNode,
  sources: Sources,
): Promise<DeclaredFunction | undefined> {
  if (assistantId === null) return undefined;
  const assistant = await scope.of(Assistants).evenDeleted(assistantId);
  for (const kind of new Set([KIND_OF[channel], "voice", "sms", "chat"] as const)) {
    const configuration = await scope.of(Configurations).of(kind, assistant);
    const found = (await declaredFunctions(scope, configuration, sources)).find(
      ({ name }) => name === functionName,
    );
    if (found) return found;
  }
  return undefined;
}

/** The arguments with their variables filled in, in the types that the function declares. */
function argumentsOf(given: JsonObject, { parameters }: DeclaredFunction, sources: Sources): JsonObject {
  const properties = (parameters.properties ?? {}) as Record<string, JsonObject>; // checked where it was declared
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
      return [name, typed(whole(value, sources) ?? fillDeep(value, sources), type)];
    }),
  );
}

/** The value of a variable as it is, where a text is its place and nothing else. */
function whole(value: unknown, sources: Sources): unknown {
  const name = typeof value === "string" ? WHOLE.exec(value)?.[1] : undefined;
  if (name === undefined) return undefined;
  return sources.find((values) => values !== null && Object.hasOwn(values, name))?.[name];
}

function typed(value: unknown, type: unknown): unknown {
  if (typeof value !== "string") return type === "string" && value !== null ? JSON.stringify(value) : value;
  if (type === "number" && NUMBER.test(value.trim())) return Number(value);
  if (type === "boolean" && /^(true|false)$/i.test(value.trim()))
    return value.trim().toLowerCase() === "true";
  return value;
}

interface Said {
  readonly role: "ASSISTANT" | "TOOL";
  readonly content?: string;
  readonly toolCalls?: JsonObject[];
  readonly toolCallId?: string;
  readonly failed?: boolean;
}

async function say(
  scope: Scope,
  { id, channel }: ChatRow,
  node: WorkflowNode,
  { failed = false, ...said }: Said,
): Promise<void> {
  const metadata = { ...metadataOf(node), ...(failed && { failed }) };
  await scope.of(Messages).postIfLive({ ...said, aiChatId: id, channel, metadata });
}
