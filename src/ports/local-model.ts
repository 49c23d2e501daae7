import type { ModelCall, ModelMessage, ModelPart, ModelRequest, TextModel } from "./text-model";

const CALL = /^call:([A-Za-z0-9_-]{1,64})\s*(\{[^]*\})?\s*$/;
const UNKNOWN =
  "I don't know that. (No text model is set up: this answer comes from the local one, which only looks things up.)";

/**
 * Answers without any model: with the best passage that the assistant knows about the question. A message
 * `call:NAME {json}` calls a function, so that everything around a model can be tried without one.
 */
export const localModel: TextModel = {
  async *stream({ messages, tools, retrieve }: ModelRequest): AsyncGenerator<ModelPart, void> {
    const last = messages.at(-1);
    if (last?.role === "tool") return void (yield* words(`${last.answers?.name} answered: ${last.content}`));
    const said = lastSaid(messages);
    const call = callIn(said);
    if (typeof call === "string") return void (yield* words(call));
    if (call) {
      if (tools.some(({ name }) => name === call.name)) yield { type: "call", ...call };
      else yield* words(`There is no function ${call.name}.`);
      return;
    }
    const [passage] = await retrieve(said);
    yield* words(passage ?? UNKNOWN);
  },
};

/** What the person said since the assistant last spoke: all of it is answered. */
function lastSaid(messages: readonly ModelMessage[]): string {
  const since = messages.findLastIndex(({ role }) => role !== "user");
  return messages
    .slice(since + 1)
    .map(({ content }) => content)
    .join("\n");
}

function callIn(said: string): ModelCall | string | undefined {
  const [, name, json = "{}"] = CALL.exec(said.trim()) ?? [];
  if (name === undefined) return undefined;
  try {
    return {
      id: `call_${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`,
      name,
      arguments: JSON.parse(json) as unknown,
    };
  } catch {
    return `The arguments of call:${name} are not valid JSON.`;
  }
}

function* words(text: string): Generator<ModelPart, void> {
  for (const word of text.match(/\s*\S+\s*/g) ?? []) yield { type: "text", text: word };
}
