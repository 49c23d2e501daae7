import type { ModelMessage } from "../ports/text-model";

const UNKNOWN = "It is not known whether this was done: no answer was kept.";

/**
 * The messages with each call of a function followed by its answer. Vendors refuse any other order, but a person may
 * have written while a function worked, the answer may have been lost in a crash, and a history begins somewhere.
 */
export function pairedCalls(messages: readonly ModelMessage[]): ModelMessage[] {
  const answers = new Map<string, ModelMessage[]>();
  for (const message of messages)
    if (message.answers)
      answers.set(message.answers.id, [...(answers.get(message.answers.id) ?? []), message]);
  return messages.flatMap((message) => {
    if (message.role === "tool") return [];
    const told = (message.calls ?? []).map(({ id, name }): ModelMessage => {
      const content = answers.get(id)?.shift()?.content ?? UNKNOWN;
      return { role: "tool", content, answers: { id, name } };
    });
    return [message, ...told];
  });
}
