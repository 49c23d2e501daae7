import { BUILT_IN } from "../../conversation/functions/functions";
import type { ModelCall, ModelMessage } from "../../platform/ports/text-model";

type Json = Readonly<Record<string, unknown>>;

/** A chat-completions request, as far as it could be parsed. */
export interface CompletionRequest {
  readonly stream: boolean;
  readonly model: string;
  readonly history: readonly ModelMessage[];
  /** Translates a built-in function to the name and arguments that the engine uses for it. */
  readonly toEngineCall: (call: ModelCall) => ModelCall;
}

const MAX_MESSAGES = 200;
const NAMES = { [BUILT_IN.endCall]: /^end[_-]?call/i, [BUILT_IN.dialKeypad]: /^dtmf$|keypad/i } as const;
const DEFAULT_NAMES = { [BUILT_IN.endCall]: "endCall", [BUILT_IN.dialKeypad]: "dtmf" } as const;

const object = (value: unknown): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string =>
  typeof value === "string" ? value.replaceAll("\0", "").toWellFormed() : "";

/** Parses the body of a chat-completions request; tolerates any content. */
export function readCompletion(body: unknown): CompletionRequest {
  const { stream, model, messages, tools } = object(body);
  return {
    stream: stream === true,
    model: text(model) || "parley",
    history: historyOf(list(messages).slice(-MAX_MESSAGES)),
    toEngineCall: (call) =>
      translateCall(
        list(tools).map((tool) => object(object(tool).function)),
        call,
      ),
  };
}

/**
 * Messages of both sides, function calls and their results. System messages are dropped, because the assistant has
 * its own instructions.
 */
function historyOf(messages: readonly unknown[]): ModelMessage[] {
  const names = new Map<string, string>();
  return messages.flatMap((item): ModelMessage[] => {
    const { role, content, tool_calls: calls, tool_call_id: id } = object(item);
    const words = wordsOf(content);
    if (role === "user") return words === "" ? [] : [{ role, content: words }];
    if (role === "assistant") {
      const called = list(calls).flatMap(callOf);
      for (const call of called) names.set(call.id, call.name);
      return words === "" && called.length === 0
        ? []
        : [{ role, content: words, ...(called.length > 0 && { calls: called }) }];
    }
    // Models refuse results of calls that are missing from the history.
    const name = role === "tool" ? names.get(text(id)) : undefined;
    return name === undefined ? [] : [{ role: "tool", content: words, answers: { id: text(id), name } }];
  });
}

const wordsOf = (content: unknown): string =>
  text(content) ||
  list(content)
    .map((part) => text(object(part).text))
    .join("");

function callOf(item: unknown): ModelCall[] {
  const { id, function: called } = object(item);
  const { name, arguments: args } = object(called);
  const known = Object.entries(NAMES).find(([, pattern]) => pattern.test(text(name)))?.[0] ?? text(name);
  return text(id) === "" || known === ""
    ? []
    : [{ id: text(id), name: known, arguments: parseArguments(args) }];
}

function parseArguments(value: unknown): unknown {
  try {
    return typeof value === "string" ? (JSON.parse(value) as unknown) : object(value);
  } catch {
    return {};
  }
}

function translateCall(tools: readonly Json[], call: ModelCall): ModelCall {
  const pattern = (NAMES as Readonly<Record<string, RegExp>>)[call.name];
  const defaultName = (DEFAULT_NAMES as Readonly<Record<string, string>>)[call.name];
  if (!pattern || defaultName === undefined) return call;
  const tool = tools.find(({ name }) => pattern.test(text(name)));
  const name = text(tool?.name) || defaultName;
  if (call.name === BUILT_IN.endCall) return { ...call, name, arguments: {} };
  const { properties, required } = object(tool?.parameters);
  const parameter = text(list(required)[0]) || Object.keys(object(properties))[0] || "dtmf";
  return { ...call, name, arguments: { [parameter]: text(object(call.arguments).digits) } };
}
