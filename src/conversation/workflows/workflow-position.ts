import { PinnedAssistants, type PinnedAssistant } from "../../assistants/versions/pinned-assistants";
import { Chats, type ChatRow } from "../../chats/chats/chats";
import { logChatError } from "../../chats/chats/log-chat-error";
import type { JsonObject } from "../../platform/json/json-object";
import { fill, valuesOf, type Values } from "../functions/variables";
import type { Scope } from "../../platform/database/scope";
import type { ModelCall } from "../../platform/ports/text-model";
import { act, metadataOf } from "./action";
import { nodeOf, type Flow, type WorkflowEdge, type WorkflowNode } from "./flow";
import { setVariables, variablesOf } from "./flow-variables";
import { pinSpeaker } from "./pin-chat";
import { nextEdge, type NodeOutcome } from "./route";
import { transitionsOf, type Transition } from "./transitions";
import { Workflows } from "./workflows";

/** The end of a workflow. */
export interface Ending {
  /** Becomes the chat's endedReason. */
  readonly reason: string;
  /** The last message; empty for none. */
  readonly message: string;
  readonly metadata: JsonObject;
}

/** The result of moving through a workflow: a PROMPT node, or the end. */
export type Arrival = { readonly position: WorkflowPosition } | { readonly ending: Ending };

/** The result of a function that the assistant of a PROMPT called. */
export interface FunctionResult {
  readonly failed: boolean;
  /** The reply, for variables; undefined if there is none. */
  readonly reply?: string;
}

/** Maximum number of nodes that a conversation moves through at once. */
const MAX_HOPS = 50;
const STUCK = "workflow-stuck";
const ENDED = "workflow-ended";

/** The position of a chat in its workflow, at a PROMPT node. Each move is stored. */
export class WorkflowPosition {
  private constructor(
    private readonly scope: Scope,
    readonly chat: ChatRow,
    private readonly flow: Flow,
    readonly node: WorkflowNode,
    readonly assistant: PinnedAssistant,
  ) {}

  /** Moves a chat on to the next PROMPT node or END. Must not run in a transaction, because it may call functions. */
  static async of(scope: Scope, chat: ChatRow): Promise<Arrival> {
    const flow = await scope.of(Workflows).flow(chat.workflowId!); // callers check that the chat runs a workflow
    const arrival = await WorkflowPosition.advance(scope, chat, flow, nodeOf(flow, chat.workflowNodeId));
    if (!arrival) throw new Error("Workflow stopped at a node that it should have run."); // mayAct is true
    return arrival;
  }

  /**
   * Moves a new chat to its first PROMPT node. Runs in a transaction, so it calls no functions.
   * @returns undefined if the chat waits at an ACTION node
   */
  static begin(scope: Scope, chat: ChatRow, flow: Flow): Promise<Arrival | undefined> {
    const start = flow.nodes.find(({ type }) => type === "START");
    return WorkflowPosition.advance(scope, chat, flow, start, false);
  }

  /** Metadata of each message of this node. */
  get metadata(): JsonObject {
    return metadataOf(this.node);
  }

  /** The transitions among which the model chooses. */
  get transitions(): Transition[] {
    return transitionsOf(this.flow, this.node.id, this.values);
  }

  /** Follows the transition that the model chose. */
  async choose({ edge }: Transition, { arguments: value }: ModelCall): Promise<Arrival> {
    const args = typeof value === "object" && value !== null ? (value as JsonObject) : {};
    const collected = Object.fromEntries(
      edge.collects.flatMap((name) => (Object.hasOwn(args, name) ? [[name, args[name]]] : [])),
    );
    const position = Object.keys(collected).length > 0 ? await this.with(collected) : this;
    return position.follow(edge);
  }

  /** Stores the reply of a function in its variable, and follows an edge that waits for the function. */
  async afterFunction(
    name: string,
    { failed, reply }: FunctionResult,
  ): Promise<Arrival | { stays: WorkflowPosition }> {
    const { resultVariable } = this.node;
    const position =
      failed || reply === undefined || resultVariable === null
        ? this
        : await this.with(variablesOf(resultVariable, reply));
    const edge = position.nextEdge(failed ? {} : { called: name });
    return edge && edge.kind !== "DEFAULT" ? position.follow(edge) : { stays: position };
  }

  /** Follows an edge after an answer of the assistant; undefined if the assistant keeps the conversation. */
  async afterAnswer(): Promise<Arrival | undefined> {
    const edge = this.nextEdge({});
    return edge && this.follow(edge);
  }

  private get values(): Values {
    return valuesOf(this.chat.variables, this.assistant);
  }

  private nextEdge(outcome: NodeOutcome): WorkflowEdge | undefined {
    return nextEdge(this.flow, this.node, this.values, outcome);
  }

  private async with(values: JsonObject): Promise<WorkflowPosition> {
    const { scope, flow, node, assistant } = this;
    return new WorkflowPosition(scope, await setVariables(scope, this.chat, values), flow, node, assistant);
  }

  private async follow({ toNodeId }: WorkflowEdge): Promise<Arrival> {
    const { scope, chat, flow } = this;
    const arrival = await WorkflowPosition.advance(
      scope,
      chat,
      flow,
      nodeOf(flow, toNodeId),
      true,
      this.assistant,
    );
    return arrival!; // mayAct is true
  }

  private static async advance(
    scope: Scope,
    currentChat: ChatRow,
    flow: Flow,
    from: WorkflowNode | undefined,
    mayAct = true,
    last?: PinnedAssistant,
  ): Promise<Arrival | undefined> {
    let [chat, node] = [currentChat, from];
    const speaker = last ?? (await scope.of(PinnedAssistants).in(chat));
    for (let hops = 0; node && hops < MAX_HOPS; hops++) {
      if (node.assistantId !== null) chat = await pinSpeaker(scope, chat, node.assistantId);
      if (node.type === "PROMPT") return WorkflowPosition.arrive(scope, chat, flow, node);
      if (node.type === "END")
        return { ending: await endAt(scope, chat, node, valuesOf(chat.variables, speaker)) };
      let outcome: NodeOutcome = {};
      if (node.type === "ACTION") {
        if (!mayAct) return void (await storeNode(scope, chat, node)); // a job continues
        const isResumed = hops === 0 && node.id === chat.workflowNodeId;
        const result = await act(scope, chat, node, valuesOf(chat.variables, speaker), isResumed);
        if (!result) return WorkflowPosition.reload(scope, chat);
        ({ chat, outcome } = result);
      }
      const edge = nextEdge(flow, node, valuesOf(chat.variables, speaker), outcome);
      node = nodeOf(flow, edge?.toNodeId ?? null);
    }
    await logChatError(
      scope,
      chat.id,
      new Error("No edge leads on from this node: the workflow was changed."),
    );
    return { ending: { reason: STUCK, message: "", metadata: {} } };
  }

  /** The position of a chat that has ended, or that another process has moved. */
  private static async reload(scope: Scope, { id }: ChatRow): Promise<Arrival> {
    const chat = await scope.of(Chats).row(id);
    if (!chat || chat.status === "ended") return { ending: { reason: ENDED, message: "", metadata: {} } };
    return WorkflowPosition.of(scope, chat);
  }

  private static async arrive(scope: Scope, chat: ChatRow, flow: Flow, node: WorkflowNode): Promise<Arrival> {
    const { assistantId } = node;
    const assistant =
      assistantId === null ? undefined : await scope.of(PinnedAssistants).ifLive(chat, assistantId);
    if (!assistant) return { ending: { reason: "assistant-deleted", message: "", metadata: {} } };
    const movedChat = await storeNode(scope, chat, node);
    return { position: new WorkflowPosition(scope, movedChat, flow, node, assistant) };
  }
}

async function endAt(scope: Scope, chat: ChatRow, node: WorkflowNode, values: Values): Promise<Ending> {
  await storeNode(scope, chat, node);
  const message = fill(node.message ?? "", values).trim();
  return { reason: node.endReason ?? ENDED, message, metadata: metadataOf(node) };
}

/** Stores the node of a chat. */
async function storeNode(
  scope: Scope,
  chat: ChatRow,
  { id: workflowNodeId }: WorkflowNode,
): Promise<ChatRow> {
  if (chat.workflowNodeId === workflowNodeId) return chat;
  await scope.transaction(async (scope) => {
    await scope.table("chats").where({ id: chat.id }).update({ workflowNodeId });
  });
  return { ...chat, workflowNodeId };
}
