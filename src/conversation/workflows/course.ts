import { Assistants, type Assistant } from "../../assistants/assistants/assistants";
import { Chats, type ChatRow } from "../../chats/chats/chats";
import { keepError } from "../../chats/chats/keep-error";
import type { JsonObject } from "../../platform/json/json-object";
import { fill } from "../functions/variables";
import type { Scope } from "../../platform/database/scope";
import type { ModelCall } from "../../platform/ports/text-model";
import { act, metadataOf } from "./action";
import { nodeOf, type Flow, type WorkflowEdge, type WorkflowNode } from "./flow";
import { setVariables, variablesOf } from "./flow-variables";
import { wayOn, type Happened, type Sources } from "./route";
import { transitionsOf, type Transition } from "./transitions";
import { Workflows } from "./workflows";

/** The end of a workflow. */
export interface Ending {
  /** Becomes the chat's endedReason. */
  readonly reason: string;
  /** The last words; none where it is empty. */
  readonly message: string;
  readonly metadata: JsonObject;
}

/** What a way through a workflow comes to: somebody speaks, or it is over. */
export type Arrival = { readonly course: Course } | { readonly ending: Ending };

/** How a function answered that a PROMPT's assistant called. */
export interface Performed {
  readonly failed: boolean;
  /** The reply, for variables; undefined where there is none. */
  readonly reply?: string;
}

/** Most nodes that a conversation passes in one go. */
const MOST_HOPS = 50;
const STUCK = "workflow-stuck";
const ENDED = "workflow-ended";

/** A conversation at a PROMPT of its workflow. What moves it is stored at once. */
export class Course {
  private constructor(
    private readonly scope: Scope,
    readonly chat: ChatRow,
    private readonly flow: Flow,
    readonly node: WorkflowNode,
    readonly assistant: Assistant,
  ) {}

  /**
   * Where a chat stands, having gone on to where somebody speaks. Nothing may be open in the database: functions may
   * be called on the way.
   */
  static async of(scope: Scope, chat: ChatRow): Promise<Arrival> {
    const flow = await scope.of(Workflows).flow(chat.workflowId!); // asked of chats that run a workflow
    const arrival = await Course.travel(scope, chat, flow, nodeOf(flow, chat.workflowNodeId));
    if (!arrival) throw new Error("A workflow waits for what it may do itself."); // it may act
    return arrival;
  }

  /**
   * Brings a new chat to the first node where somebody speaks.
   * @returns undefined when it waits at a function, which may not be called in an open transaction
   */
  static begin(scope: Scope, chat: ChatRow, flow: Flow): Promise<Arrival | undefined> {
    const start = flow.nodes.find(({ type }) => type === "START");
    return Course.travel(scope, chat, flow, start, false);
  }

  /** What stands on each message of this node. */
  get metadata(): JsonObject {
    return metadataOf(this.node);
  }

  /** The ways on among which the model chooses. */
  get transitions(): Transition[] {
    return transitionsOf(this.flow, this.node.id, this.sources);
  }

  /** Goes where the model chose to. */
  async choose({ edge }: Transition, { arguments: given }: ModelCall): Promise<Arrival> {
    const args = typeof given === "object" && given !== null ? (given as JsonObject) : {};
    const collected = Object.fromEntries(
      edge.collects.flatMap((name) => (Object.hasOwn(args, name) ? [[name, args[name]]] : [])),
    );
    const course = Object.keys(collected).length > 0 ? await this.with(collected) : this;
    return course.follow(edge);
  }

  /** Keeps the reply of a function, and goes on where an edge waited for it. */
  async afterFunction(name: string, { failed, reply }: Performed): Promise<Arrival | { stays: Course }> {
    const { resultVariable } = this.node;
    const course =
      failed || reply === undefined || resultVariable === null
        ? this
        : await this.with(variablesOf(resultVariable, reply));
    const edge = course.way(failed ? {} : { called: name });
    return edge && edge.kind !== "DEFAULT" ? course.follow(edge) : { stays: course };
  }

  /** Goes on when the assistant has answered; undefined where it is to go on answering. */
  async afterAnswer(): Promise<Arrival | undefined> {
    const edge = this.way({});
    return edge && this.follow(edge);
  }

  private get sources(): Sources {
    return [this.chat.variables, this.assistant.variables];
  }

  private way(happened: Happened): WorkflowEdge | undefined {
    return wayOn(this.flow, this.node, this.sources, happened);
  }

  private async with(values: JsonObject): Promise<Course> {
    const { scope, flow, node, assistant } = this;
    return new Course(scope, await setVariables(scope, this.chat, values), flow, node, assistant);
  }

  private async follow({ toNodeId }: WorkflowEdge): Promise<Arrival> {
    const { scope, chat, flow } = this;
    const arrival = await Course.travel(scope, chat, flow, nodeOf(flow, toNodeId), true, this.assistant);
    return arrival!; // it may act
  }

  private static async travel(
    scope: Scope,
    given: ChatRow,
    flow: Flow,
    from: WorkflowNode | undefined,
    mayAct = true,
    last?: Assistant,
  ): Promise<Arrival | undefined> {
    let [chat, node] = [given, from];
    const { variables } = last ?? (await scope.of(Assistants).evenDeleted(chat.assistantId));
    for (let hops = 0; node && hops < MOST_HOPS; hops++) {
      if (node.type === "PROMPT") return Course.arrive(scope, chat, flow, node);
      if (node.type === "END") return { ending: await endAt(scope, chat, node, [chat.variables, variables]) };
      let happened: Happened = {};
      if (node.type === "ACTION") {
        if (!mayAct) return void (await stand(scope, chat, node)); // from where a job goes on
        const stands = hops === 0 && node.id === chat.workflowNodeId;
        const acted = await act(scope, chat, node, [chat.variables, variables], stands);
        if (!acted) return Course.elsewhere(scope, chat);
        ({ chat, happened } = acted);
      }
      const edge = wayOn(flow, node, [chat.variables, variables], happened);
      node = nodeOf(flow, edge?.toNodeId ?? null);
    }
    await keepError(scope, chat.id, new Error("The workflow leads nowhere from here: it was changed."));
    return { ending: { reason: STUCK, message: "", metadata: {} } };
  }

  /** Where a chat stands that has ended, or that somebody else has moved on. */
  private static async elsewhere(scope: Scope, { id }: ChatRow): Promise<Arrival> {
    const chat = await scope.of(Chats).row(id);
    if (!chat || chat.status === "ended") return { ending: { reason: ENDED, message: "", metadata: {} } };
    return Course.of(scope, chat);
  }

  private static async arrive(scope: Scope, chat: ChatRow, flow: Flow, node: WorkflowNode): Promise<Arrival> {
    const [assistant] =
      node.assistantId === null
        ? []
        : await scope.table("assistants").where({ id: node.assistantId }).whereNull("deletedAt");
    if (!assistant) return { ending: { reason: "assistant-deleted", message: "", metadata: {} } };
    const standing = await stand(scope, chat, node);
    return { course: new Course(scope, standing, flow, node, { ...assistant, template: false }) };
  }
}

async function endAt(scope: Scope, chat: ChatRow, node: WorkflowNode, sources: Sources): Promise<Ending> {
  await stand(scope, chat, node);
  const message = fill(node.message ?? "", sources).trim();
  return { reason: node.endReason ?? ENDED, message, metadata: metadataOf(node) };
}

/** Notes where a chat stands. */
async function stand(scope: Scope, chat: ChatRow, { id: workflowNodeId }: WorkflowNode): Promise<ChatRow> {
  if (chat.workflowNodeId === workflowNodeId) return chat;
  await scope.transaction(async (scope) => {
    await scope.table("chats").where({ id: chat.id }).update({ workflowNodeId });
  });
  return { ...chat, workflowNodeId };
}
