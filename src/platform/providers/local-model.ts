import { currentTime } from "../clock";
import type { ModelCall, ModelMessage, ModelPart, ModelRequest, TextModel } from "../ports/text-model";

const CALL = /^call:([A-Za-z0-9_-]{1,64})(?![A-Za-z0-9_-])/;
const UNKNOWN =
  "I don't know that. (No text model is set up: this answer comes from the local one, which only looks things up.)";

/**
 * Answers without a language model: with the best passage of the assistant's knowledge. A message of the form
 * `call:NAME {json}` calls a function, so that functions can be tried without a model.
 */
export const localModel: TextModel = {
  async *stream({ messages, tools, retrieve, opening }: ModelRequest): AsyncGenerator<ModelPart, void> {
    const last = messages.at(-1);
    if (last?.role === "tool") return void (yield* words(`${last.answers?.name} answered: ${last.content}`));
    const said = lastSaid(messages);
    const call = callIn(said);
    if (typeof call === "string") return void (yield* words(call));
    // The call has just handed the conversation to this assistant, so it is not repeated.
    if (call && opening !== undefined) return void (yield* words(opening));
    if (call) {
      if (tools.some(({ name }) => name === call.name)) yield { type: "call", ...call };
      else yield* words(`No function is named ${call.name}.`);
      return;
    }
    const [passage] = await retrieve(said);
    yield* words(passage ?? UNKNOWN);
  },
  async suggest({ topics }, answer) {
    const others = (await topics()).filter((topic) => topic !== answer);
    return [...new Set(others.map(asQuestion))].filter((question) => /[\p{L}\p{N}]/u.test(question));
  },
};

const MAX_QUESTION_LENGTH = 60;

/** A question about a passage: its heading or its first sentence, shortened. */
function asQuestion(passage: string): string {
  const line = passage.split("\n", 1)[0]!.split(" › ").at(-1)!;
  const sentence = /^.*?(?=[.!?…](\s|$))/.exec(line)?.[0] ?? line;
  const cut = sentence.slice(0, MAX_QUESTION_LENGTH).toWellFormed();
  const short =
    sentence.length <= MAX_QUESTION_LENGTH ? sentence : `${cut.slice(0, cut.lastIndexOf(" ")) || cut} …`;
  return `${short.replace(/^[#>*\s-]+/, "")}?`;
}

/** All messages of the person since the assistant's last message. */
function lastSaid(messages: readonly ModelMessage[]): string {
  const since = messages.findLastIndex(({ role }) => role !== "user");
  return messages
    .slice(since + 1)
    .map(({ content }) => content)
    .join("\n");
}

function callIn(said: string): ModelCall | string | undefined {
  const [begin = "", name] = CALL.exec(said.trim()) ?? [];
  if (name === undefined) return undefined;
  const json = said.trim().slice(begin.length).trim() || "{}";
  if (!json.startsWith("{") || !json.endsWith("}")) return undefined;
  try {
    return {
      id: `call_${currentTime().toString(36)}${Math.random().toString(36).slice(2, 8)}`,
      name,
      arguments: JSON.parse(json) as unknown,
    };
  } catch {
    return `The arguments of call:${name} are not valid JSON.`;
  }
}

function* words(text: string): Generator<ModelPart, void> {
  for (const word of text.trimStart().match(/\S+\s*/g) ?? []) yield { type: "text", text: word };
}
