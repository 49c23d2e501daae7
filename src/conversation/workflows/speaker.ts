import { PinnedAssistants, type PinnedAssistant } from "../../assistants/versions/pinned-assistants";
import { Chats, type ChatRow } from "../../chats/chats/chats";
import { Messages } from "../../chats/chats/messages";
import { KIND_OF } from "../../assistants/configurations/configurations";
import { fill, valuesOf } from "../functions/variables";
import type { Scope } from "../../platform/database/scope";
import { WorkflowPosition, type Arrival, type Ending } from "./workflow-position";
import type { Flow } from "./flow";

/** The assistant that speaks in a chat. */
export interface Speaker {
  readonly chat: ChatRow;
  readonly assistant: PinnedAssistant;
  /** Set if the chat runs a workflow. */
  readonly position?: WorkflowPosition;
}

/** The speaker of a chat, or the ending of its workflow. Must not run in a transaction: it may call functions. */
export async function speakerOf(scope: Scope, chat: ChatRow): Promise<Speaker | { ending: Ending }> {
  if (chat.workflowId !== null) return speakerAfter(await WorkflowPosition.of(scope, chat));
  return { chat, assistant: await scope.of(PinnedAssistants).in(chat) };
}

/** The speaker after a move through a workflow. */
export const speakerAfter = (arrival: Arrival): Speaker | { ending: Ending } =>
  "ending" in arrival
    ? arrival
    : { chat: arrival.position.chat, assistant: arrival.position.assistant, position: arrival.position };

/**
 * Begins a chat with the assistant's greeting, in the transaction that stores the chat. If a workflow calls a function
 * before the greeting, a job continues.
 * @param greets whether to post the greeting if the chat runs no workflow
 */
export async function beginChat(
  scope: Scope,
  chat: ChatRow,
  flow: Flow | undefined,
  greets = true,
): Promise<void> {
  if (!flow && !greets) return;
  if (!flow) return greet(scope, { chat, assistant: await scope.of(PinnedAssistants).in(chat) });
  const arrival = await WorkflowPosition.begin(scope, chat, flow);
  if (!arrival) return scope.enqueue("chat.turn", { chatId: chat.id });
  const speaker = speakerAfter(arrival);
  if ("ending" in speaker) return conclude(scope, chat, speaker.ending);
  return greet(scope, speaker);
}

/** Posts the greeting of the speaker, if it has one. */
export async function greet(scope: Scope, { chat, assistant, position }: Speaker): Promise<void> {
  const { id: aiChatId, channel, variables } = chat;
  const { initialMessage } = await scope.of(PinnedAssistants).configuration(KIND_OF[channel], assistant);
  const content = fill(initialMessage, valuesOf(variables, assistant));
  if (content.trim() === "") return;
  const metadata = { greeting: true, ...position?.metadata };
  await scope.of(Messages).postIfLive({ aiChatId, role: "ASSISTANT", channel, content, metadata });
}

/** Ends a chat whose workflow has ended, after the last message. */
export async function conclude(
  scope: Scope,
  { id, channel }: ChatRow,
  { message: content, reason, metadata }: Ending,
): Promise<void> {
  await scope.transaction(async (scope) => {
    if (content !== "")
      await scope.of(Messages).postIfLive({ aiChatId: id, role: "ASSISTANT", channel, content, metadata });
    await scope.of(Chats).endIfLive(id, reason);
  });
}
