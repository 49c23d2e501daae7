import { attachmentNote } from "../../chats/chats/attachments";
import type { Message } from "../../chats/chats/messages";
import type { ModelMessage } from "../../platform/ports/text-model";

/** SYSTEM messages are shown to the model as what they are: a note, not the person's words. */
export function toModel(message: Message): ModelMessage[] {
  const { role, content, toolCalls, toolCallId, metadata } = message;
  const text = content ?? "";
  if (role === "USER") return [{ role: "user", content: withAttachments(message, text) }];
  if (role === "SYSTEM") return text === "" ? [] : [{ role: "user", content: `(Note: ${text})` }];
  if (role === "TOOL") {
    const name = typeof metadata.name === "string" ? metadata.name : "function";
    return toolCallId === null
      ? [{ role: "user", content: `(Note: ${text})` }]
      : [{ role: "tool", content: text, answers: { id: toolCallId, name } }];
  }
  const calls = (toolCalls ?? []).map((call) => ({
    id: String(call.id),
    name: String(call.name),
    arguments: call.arguments,
  }));
  return text === "" && calls.length === 0
    ? []
    : [{ role: "assistant", content: text, ...(calls.length > 0 && { calls }) }];
}

/** A model is not shown what came with a text message, but that it came. */
function withAttachments({ channel, metadata }: Message, text: string): string {
  const { attachments, attachmentTypes } = metadata;
  if (channel !== "SMS" || typeof attachments !== "number" || attachments < 1) return text;
  const types = Array.isArray(attachmentTypes) ? attachmentTypes.map(String) : [];
  const note = attachmentNote(attachments, types);
  return text === note ? text : `${text}\n${note}`;
}

/**
 * What was said, with what is to be answered behind the answers before it: a person may write while an answer to
 * something else is on its way, and vendors take an answer at the end of a request for one to go on with.
 * @param answered place of the last message that was answered
 */
export function asAnswered(history: readonly Message[], answered: number): readonly Message[] {
  const last = history.findLastIndex(({ role, toolCalls }) => role === "ASSISTANT" && toolCalls === null);
  const before = history.slice(0, last + 1);
  const waits = ({ role, sequence }: Message) => role === "USER" && sequence > answered;
  const rest = history.slice(last + 1);
  return [...before.filter((message) => !waits(message)), ...before.filter(waits), ...rest];
}

/** What was said, and nothing of functions: each assistant of a workflow has others, and knows none of its fellows'. */
export const wordsOf = (history: readonly Message[]): ModelMessage[] =>
  history
    .filter(({ role }) => role !== "TOOL")
    .flatMap((message) => toModel({ ...message, toolCalls: null }));

/** What functions have answered, for a model that is not shown their calls; what moved a workflow is no function. */
export function functionsSoFar(messages: readonly Message[]): string {
  const calls = messages.flatMap(({ toolCalls }) => toolCalls ?? []) as { id: string; name: string }[]; // as turns keep them
  const names = new Map(calls.map(({ id, name }) => [id, name]));
  const lines = messages
    .filter(
      ({ role, toolCallId, metadata }) => role === "TOOL" && toolCallId !== null && !metadata.transition,
    )
    .map(({ toolCallId, content }) => `- ${names.get(toolCallId!) ?? "function"}: ${content}`);
  return lines.length > 0 ? `What functions have answered so far:\n${lines.join("\n")}` : "";
}
