import { attachmentNote } from "../../chats/chats/attachments";
import type { Message } from "../../chats/chats/messages";
import type { ModelMessage } from "../../platform/ports/text-model";

/** Converts a stored message. A SYSTEM message becomes a note: it is neither the person's text nor the instructions. */
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

/** Appends a note about the attachments of a text message, which models cannot see. */
function withAttachments({ channel, metadata }: Message, text: string): string {
  const { attachments, attachmentTypes } = metadata;
  if (channel !== "SMS" || typeof attachments !== "number" || attachments < 1) return text;
  const types = Array.isArray(attachmentTypes) ? attachmentTypes.map(String) : [];
  const note = attachmentNote(attachments, types);
  return text === note ? text : `${text}\n${note}`;
}

/**
 * Moves unanswered messages to the end. A person can write while an earlier answer is still being generated, but
 * providers treat an answer at the end of a request as one to be continued.
 * @param answered sequence of the last answered message
 */
export function orderForModel(history: readonly Message[], answered: number): readonly Message[] {
  const last = history.findLastIndex(({ role, toolCalls }) => role === "ASSISTANT" && toolCalls === null);
  const before = history.slice(0, last + 1);
  const isUnanswered = ({ role, sequence }: Message) => role === "USER" && sequence > answered;
  const rest = history.slice(last + 1);
  return [...before.filter((message) => !isUnanswered(message)), ...before.filter(isUnanswered), ...rest];
}

/** The conversation without function calls: each assistant of a workflow has its own functions. */
export const withoutFunctions = (history: readonly Message[]): ModelMessage[] =>
  history
    .filter(({ role }) => role !== "TOOL")
    .flatMap((message) => toModel({ ...message, toolCalls: null }));

/** What the person and the assistant said, without notes. */
export const spokenIn = (history: readonly Message[]): ModelMessage[] =>
  withoutFunctions(history.filter(({ role }) => role !== "SYSTEM"));

/** The answers of functions, for a model that does not see their calls. Leaves out transitions of a workflow. */
export function functionResults(messages: readonly Message[]): string {
  const calls = messages.flatMap(({ toolCalls }) => toolCalls ?? []) as { id: string; name: string }[]; // as turns store them
  const names = new Map(calls.map(({ id, name }) => [id, name]));
  const lines = messages
    .filter(
      ({ role, toolCallId, metadata }) => role === "TOOL" && toolCallId !== null && !metadata.transition,
    )
    .map(({ toolCallId, content }) => `- ${names.get(toolCallId!) ?? "function"}: ${content}`);
  return lines.length > 0 ? `What functions have answered so far:\n${lines.join("\n")}` : "";
}
