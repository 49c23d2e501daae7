import { Messages, type NewMessage } from "../../chats/chats/messages";
import type { Scope } from "../../platform/database/scope";
import { Events } from "../../events/events/events";
import type { JsonObject } from "../../platform/json/json-object";
import type { ModelCall } from "../../platform/ports/text-model";
import type { Arrival, WorkflowPosition, Ending, FunctionResult } from "../workflows/workflow-position";
import { speakerAfter, type Speaker } from "../workflows/speaker";
import { BUILT_IN, builtInFunctions, callFunction, declaredFunctions } from "../functions/functions";
import { callServerTool } from "../functions/server-tools";
import type { PreparedTurn } from "./prepare-turn";

interface StepResult extends FunctionResult {
  /** Text for the model. */
  readonly text: string;
  readonly metadata?: JsonObject;
}

const SKIPPED: StepResult = {
  text: "Not called: the conversation had moved on.",
  failed: false,
  metadata: { skipped: true },
};

/** Performs the calls of one answer in order and stores their results, until one of them moves the workflow. */
export class Steps {
  private arrival: Arrival | undefined;
  private position: WorkflowPosition | undefined;

  constructor(
    private readonly scope: Scope,
    private readonly turn: PreparedTurn,
  ) {
    this.position = turn.position;
  }

  /** Performs a call. @returns its result for the model; undefined if it ends the conversation */
  async handle(call: ModelCall): Promise<string | undefined> {
    const result: StepResult | undefined = this.arrival ? SKIPPED : await this.run(call);
    if (!result) return undefined;
    const { text: content } = result;
    const metadata = { ...result.metadata, ...(result.failed && { failed: true }) };
    const message = { role: "TOOL", content, toolCallId: call.id } as const;
    await postMessage(this.scope, this.turn, {
      ...message,
      metadata: { ...this.turn.metadata, ...metadata },
    });
    return content;
  }

  /** The next speaker or the ending that the calls led to; undefined if the assistant continues. */
  next(): Speaker | { ending: Ending } | undefined {
    return this.arrival && speakerAfter(this.arrival);
  }

  /** The turn of an assistant that continues, with the variables that functions have set. */
  continuedTurn(): PreparedTurn {
    return this.position ? { ...this.turn, position: this.position } : this.turn;
  }

  private async run(call: ModelCall): Promise<StepResult | undefined> {
    const transition = this.position?.transitions.find(({ tool }) => tool.name === call.name);
    if (transition) {
      this.arrival = await this.position!.choose(transition, call); // it has the transition
      return {
        text: "The conversation continues from there.",
        failed: false,
        metadata: { transition: true },
      };
    }
    const result = await perform(this.scope, this.turn, call);
    const after = result && (await this.position?.afterFunction(call.name, result));
    if (after && "stays" in after) this.position = after.stays;
    else if (after) this.arrival = after;
    return result;
  }
}

/** Performs a call. @returns its result; undefined if it ends the conversation */
async function perform(
  scope: Scope,
  { chat, configuration, search, remember, serverTools, request }: PreparedTurn,
  call: ModelCall,
): Promise<StepResult | undefined> {
  const isNamed = ({ name }: { readonly name: string }) => name === call.name;
  const builtIn = builtInFunctions(configuration).find(isNamed);
  await scope.transaction((scope) =>
    scope.of(Events).functionCalled(chat, call.name, asObject(call.arguments)),
  );
  if (builtIn?.name === BUILT_IN.endCall) return undefined;
  const own = async (text: Promise<string> | string) => ({ text: await text, failed: false });
  if (search && call.name === search.tool.name) return own(search.run(textIn(call, "query")));
  if (remember && call.name === remember.tool.name) return own(remember.run(textIn(call, "fact")));
  if (builtIn) return own("The keys were pressed.");
  const tool = serverTools.find(isNamed);
  if (tool)
    return callServerTool(scope, tool, call, chat.id).then((answer) => ({ ...answer, reply: answer.text }));
  const declared = (await declaredFunctions(scope, configuration)).find(isNamed);
  if (!declared) return { text: `There is no function ${call.name}.`, failed: true };
  const { parameters } = request.tools.find(isNamed) ?? declared; // checks against the schema that was offered
  const { text, failed } = await callFunction(scope, { ...declared, parameters }, call.id, call.arguments);
  // The contract: in calls the model gets a function's reply only if RAG is enabled.
  const visibleText =
    chat.channel === "VOICE" && !configuration.isRagEnabled ? "The function was called." : text;
  return { text: visibleText, failed, reply: text };
}

export interface TurnMessage {
  readonly role: "ASSISTANT" | "TOOL";
  readonly content: string | null;
  readonly metadata?: JsonObject;
  readonly toolCalls?: JsonObject[];
  readonly toolCallId?: string;
  readonly answers?: NewMessage["answers"];
  readonly known?: NewMessage["known"] | undefined;
  readonly unshown?: string;
}

/** Posts a message to the chat. @returns false if the chat has ended or its question was answered in the meantime */
export async function postMessage(
  scope: Scope,
  { chat, metadata }: Pick<PreparedTurn, "chat" | "metadata">,
  { known, ...content }: TurnMessage,
): Promise<boolean> {
  const message = { metadata, ...content, ...(known && { known }), aiChatId: chat.id, channel: chat.channel };
  return (await scope.of(Messages).postIfLive(message)) !== undefined;
}

const asObject = (value: unknown): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

function textIn({ arguments: args }: ModelCall, name: string): string {
  const value = asObject(args)[name];
  return typeof value === "string" ? value : "";
}
