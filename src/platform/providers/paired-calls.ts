import type { ModelMessage } from "../ports/text-model";

const UNKNOWN = "The result is unknown: no answer of the function was stored.";

/**
 * Orders messages so that each function call is followed by its answer. Vendors refuse any other order, but a person may
 * have written while a function was running, an answer may be lost after a crash, and old messages are cut off.
 */
export function pairedCalls(messages: readonly ModelMessage[]): ModelMessage[] {
  const answers = new Map<string, ModelMessage[]>();
  for (const message of messages)
    if (message.answers)
      answers.set(message.answers.id, [...(answers.get(message.answers.id) ?? []), message]);
  return messages.flatMap((message) => {
    if (message.role === "tool") return [];
    const results = (message.calls ?? []).map(({ id, name }): ModelMessage => {
      const content = answers.get(id)?.shift()?.content ?? UNKNOWN;
      return { role: "tool", content, answers: { id, name } };
    });
    return [message, ...results];
  });
}
