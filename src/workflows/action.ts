import { Assistants } from "../assistants/assistants";
import type { ChatRow } from "../chats/chats";
import { Messages } from "../chats/messages";
import { Configurations, KIND_OF } from "../configurations/configurations";
import type { DeclaredFunction } from "../configurations/functions";
import { callFunction, declaredFunctions } from "../conversation/functions";
import { fillDeep } from "../conversation/variables";
import { newId } from "../database/ids";
import type { Scope } from "../database/scope";
import { Events } from "../events/events";
import type { WorkflowNode } from "./flow";
import { setVariables, variablesOf } from "./flow-variables";
import type { Happened, Sources } from "./route";

type JsonObject = Record<string, unknown>;

const WHOLE = /^\{([A-Za-z0-9_.]+)\}$/;
const NUMBER = /^-?\d+(\.\d+)?$/;

/** What stands on the messages of a node. */
export const metadataOf = ({ id, name }: WorkflowNode): JsonObject => ({
  workflowNodeId: id,
  workflowNodeName: name,
});

/** Calls the function of an ACTION node, and keeps in the chat what it was asked and what it answered. */
export async function act(
  scope: Scope,
  chat: ChatRow,
  node: WorkflowNode,
  sources: Sources,
): Promise<{ chat: ChatRow; happened: Happened }> {
  const declared = await functionOf(scope, chat, node, sources);
  const name = node.functionName ?? "";
  const args = declared ? argumentsOf(node.arguments, declared, sources) : node.arguments;
  const call = { id: `call_${newId()}`, name, arguments: args };
  await scope.transaction((scope) => scope.of(Events).functionCalled(chat, name, args));
  await say(scope, chat, node, { role: "ASSISTANT", toolCalls: [call] });
  const answer = declared
    ? await callFunction(scope.ports.outbound, declared, call.id, args)
    : { failed: true, text: `There is no function ${name}.` };
  const { failed, text: content } = answer;
  await say(scope, chat, node, { role: "TOOL", content, toolCallId: call.id, failed });
  if (failed) return { chat, happened: {} };
  const kept =
    node.resultVariable === null
      ? chat
      : await setVariables(scope, chat, variablesOf(node.resultVariable, content));
  return { chat: kept, happened: { called: name } };
}

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
    const found = declaredFunctions(configuration, sources).find(({ name }) => name === functionName);
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
