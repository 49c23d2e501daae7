import { Assistants, type Assistant } from "../../assistants/assistants/assistants";
import { Chats, type ChatRow } from "../../chats/chats/chats";
import { Messages } from "../../chats/chats/messages";
import { Configurations, KIND_OF } from "../../assistants/configurations/configurations";
import { fill } from "../functions/variables";
import type { Scope } from "../../platform/database/scope";
import { Course, type Arrival, type Ending } from "./course";
import type { Flow } from "./flow";

/** Who speaks in a chat now. */
export interface Speaker {
  readonly chat: ChatRow;
  readonly assistant: Assistant;
  /** Of a chat that runs a workflow: where it stands. */
  readonly course?: Course;
}

/** Who speaks in a chat now, or how its workflow has ended. Nothing may be open in the database. */
export async function speakerOf(scope: Scope, chat: ChatRow): Promise<Speaker | { ending: Ending }> {
  if (chat.workflowId !== null) return speakerAt(await Course.of(scope, chat));
  return { chat, assistant: await scope.of(Assistants).evenDeleted(chat.assistantId) };
}

/** The same of a way that was gone. */
export const speakerAt = (arrival: Arrival): Speaker | { ending: Ending } =>
  "ending" in arrival
    ? arrival
    : { chat: arrival.course.chat, assistant: arrival.course.assistant, course: arrival.course };

/**
 * Begins a chat that is talked in here, in the transaction that stores it: with the assistant's greeting. Where a
 * workflow calls a function before anybody speaks, a job goes on.
 * @param greets whether the assistant of a chat without a workflow says its greeting
 */
export async function begin(
  scope: Scope,
  chat: ChatRow,
  flow: Flow | undefined,
  greets = true,
): Promise<void> {
  if (!flow && !greets) return;
  if (!flow) return greet(scope, { chat, assistant: await scope.of(Assistants).byId(chat.assistantId) });
  const arrival = await Course.begin(scope, chat, flow);
  if (!arrival) return scope.enqueue("chat.turn", { chatId: chat.id });
  const speaker = speakerAt(arrival);
  if ("ending" in speaker) return conclude(scope, chat, speaker.ending);
  return greet(scope, speaker);
}

/** Says the greeting of the assistant that speaks, where it has one. */
export async function greet(scope: Scope, { chat, assistant, course }: Speaker): Promise<void> {
  const { id: aiChatId, channel, variables } = chat;
  const { initialMessage } = await scope.of(Configurations).of(KIND_OF[channel], assistant);
  const content = fill(initialMessage, [variables, assistant.variables]);
  if (content.trim() === "") return;
  const metadata = { greeting: true, ...course?.metadata };
  await scope.of(Messages).postIfLive({ aiChatId, role: "ASSISTANT", channel, content, metadata });
}

/** Ends a chat whose workflow has ended, with its last words. */
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
