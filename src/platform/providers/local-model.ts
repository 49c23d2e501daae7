import { currentTime } from "../clock";
import type { Language } from "../language/detect-language";
import type { ModelCall, ModelMessage, ModelPart, ModelRequest, TextModel } from "../ports/text-model";
import { PHRASES } from "../language/local-phrases";
import { understand } from "./understand";

const CALL = /^call:([A-Za-z0-9_-]{1,64})(?![A-Za-z0-9_-])/;
/**
 * Answers without a language model: with text of the assistant's resources and files, never of its prompt. It greets,
 * says what it can look up, and speaks the person's language. A message of the form
 * `call:NAME {json}` calls a function, so that functions can be tried without a model.
 */
export const localModel: TextModel = {
  async *stream(request: ModelRequest): AsyncGenerator<ModelPart, void> {
    const { messages, tools, opening } = request;
    const last = messages.at(-1);
    if (last?.role === "tool") return void (yield* words(`${last.answers?.name} answered: ${last.content}`));
    const unanswered = lastSaid(messages);
    const said = unanswered.join("\n");
    const call = callIn(said);
    if (typeof call === "string") return void (yield* words(call));
    // The call has just handed the conversation to this assistant, so it is not repeated.
    if (call && opening !== undefined) return void (yield* words(opening));
    if (call) {
      if (tools.some(({ name }) => name === call.name)) yield { type: "call", ...call };
      else yield* words(`No function is named ${call.name}.`);
      return;
    }
    yield* words((await quotes(request, unanswered)) ?? (await reply(request, said)));
  },
  suggest: async ({ topics, messages }) => unmentioned(await topics(), messages),
};

/** Topics that an answer names at most. */
const MAX_TOPICS = 3;
/** Longer messages without a question mark that thank or say goodbye are looked up too. In words. */
const MAX_CLOSING_LENGTH = 5;

/** The passages that answer several messages; undefined for a single message, or if none is found. */
async function quotes(request: ModelRequest, unanswered: readonly string[]) {
  if (unanswered.length < 2) return undefined;
  const found = new Set<string>();
  for (const said of unanswered) {
    const { rest } = await understand(said, request);
    const text = /\p{L}/u.test(rest) ? await request.quote(rest) : undefined;
    if (text !== undefined) found.add(text);
  }
  return found.size === 0 ? undefined : [...found].join("\n\n");
}

async function reply(request: ModelRequest, said: string): Promise<string> {
  const { messages, quote, topics } = request;
  const { remarks, rest, language } = await understand(said, request);
  const say = PHRASES[language];
  const gap = UNSPACED.has(language) ? "" : " ";
  const opening = remarks.has("hello") ? `${say.hello}${gap}` : "";
  const offer = async () => offerOf(unmentioned(await topics(), messages), language);
  const isClosing = (remarks.has("thanks") || remarks.has("bye")) && !/[?？؟]/.test(rest);
  if (remarks.has("who")) return `${opening}${say.ask}${gap}${await offer()}`;
  if (/\p{L}/u.test(rest) && !(isClosing && rest.split(/\s+/).length <= MAX_CLOSING_LENGTH)) {
    const found = await quote(rest);
    if (found !== undefined) return found;
  } else if (remarks.size > 0) {
    const closing = [remarks.has("thanks") && say.welcome, remarks.has("bye") && say.bye].filter(Boolean);
    if (closing.length > 0) return closing.join(gap);
    return `${opening}${say.ask}${gap}${await offer()}`;
  }
  return `${opening}${/\p{L}/u.test(rest) ? say.unknown : say.ask}${gap}${await offer()}`;
}

/** Languages without spaces between sentences, whose full stop is "。". */
const UNSPACED: ReadonlySet<Language> = new Set(["ja", "zh"]);

/** Says what can be looked up. */
function offerOf(topics: readonly string[], language: Language): string {
  const { topics: before, noTopics } = PHRASES[language];
  if (topics.length === 0) return noTopics;
  const [open, close] = QUOTES[language] ?? ["“", "”"];
  const quoted = topics.slice(0, MAX_TOPICS).map((topic) => `${open}${topic}${close}`);
  return `${before}${UNSPACED.has(language) ? "" : " "}${new Intl.ListFormat(language, { type: "disjunction" }).format(quoted)}${UNSPACED.has(language) ? "。" : "."}`;
}

const QUOTES: Partial<Readonly<Record<Language, readonly [string, string]>>> = {
  de: ["„", "“"],
  fr: ["« ", " »"],
  ja: ["「", "」"],
  pl: ["„", "”"],
};

/** Topics that were not named yet; all if every one was. */
function unmentioned(topics: readonly string[], messages: readonly ModelMessage[]): readonly string[] {
  const short = topics.filter((topic) => topic.length <= MAX_TOPIC_LENGTH);
  const fresh = short.filter((topic) => !sentencesOf(topic).some((part) => wasSaid(messages, part)));
  return fresh.length > 0 ? fresh : short;
}

/** The sentences of a heading: one may hold several questions. */
const sentencesOf = (heading: string): readonly string[] =>
  heading
    .match(/[^?？!！.。]+[?？!！.。]?/g)
    ?.map((part) => part.trim())
    .filter(Boolean) ?? [heading];

const wasSaid = (messages: readonly ModelMessage[], words: string): boolean =>
  messages.some(({ content }) => content.toLowerCase().includes(words.toLowerCase()));

const MAX_TOPIC_LENGTH = 80;

/** All messages of the person since the assistant's last message. */
function lastSaid(messages: readonly ModelMessage[]): string[] {
  const since = messages.findLastIndex(({ role }) => role !== "user");
  return messages.slice(since + 1).map(({ content }) => content);
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
