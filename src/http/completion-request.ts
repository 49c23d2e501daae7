import { BUILT_IN } from "../conversation/functions/functions";
import type { ModelCall, ModelMessage } from "../platform/ports/text-model";

type Json = Readonly<Record<string, unknown>>;

/** A question for a chat completion, as far as it can be understood. */
export interface CompletionRequest {
  readonly stream: boolean;
  readonly model: string;
  readonly history: readonly ModelMessage[];
  /** A built-in function under the name and with the arguments that the asking side has for it. */
  readonly asked: (call: ModelCall) => ModelCall;
}

const MOST_MESSAGES = 200;
const NAMES = { [BUILT_IN.endCall]: /^end[_-]?call/i, [BUILT_IN.dialKeypad]: /^dtmf$|keypad/i } as const;
const USUAL = { [BUILT_IN.endCall]: "endCall", [BUILT_IN.dialKeypad]: "dtmf" } as const;

const object = (value: unknown): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string =>
  typeof value === "string" ? value.replaceAll("\0", "").toWellFormed() : "";

/** Reads the body of a chat-completions request, whatever it holds. */
export function readCompletion(body: unknown): CompletionRequest {
  const { stream, model, messages, tools } = object(body);
  return {
    stream: stream === true,
    model: text(model) || "parley",
    history: historyOf(list(messages).slice(-MOST_MESSAGES)),
    asked: (call) =>
      asked(
        list(tools).map((tool) => object(object(tool).function)),
        call,
      ),
  };
}

/** Words of both sides, and functions that were called and answered. The instructions are our own: theirs are left out. */
function historyOf(messages: readonly unknown[]): ModelMessage[] {
  const names = new Map<string, string>();
  return messages.flatMap((item): ModelMessage[] => {
    const { role, content, tool_calls: calls, tool_call_id: id } = object(item);
    const said = wordsOf(content);
    if (role === "user") return said === "" ? [] : [{ role, content: said }];
    if (role === "assistant") {
      const called = list(calls).flatMap(callOf);
      for (const call of called) names.set(call.id, call.name);
      return said === "" && called.length === 0
        ? []
        : [{ role, content: said, ...(called.length > 0 && { calls: called }) }];
    }
    // An answer to a call that is not there is refused by models.
    const name = role === "tool" ? names.get(text(id)) : undefined;
    return name === undefined ? [] : [{ role: "tool", content: said, answers: { id: text(id), name } }];
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
  return text(id) === "" || known === "" ? [] : [{ id: text(id), name: known, arguments: parsed(args) }];
}

function parsed(value: unknown): unknown {
  try {
    return typeof value === "string" ? (JSON.parse(value) as unknown) : object(value);
  } catch {
    return {};
  }
}

function asked(tools: readonly Json[], call: ModelCall): ModelCall {
  const pattern = (NAMES as Readonly<Record<string, RegExp>>)[call.name];
  const usual = (USUAL as Readonly<Record<string, string>>)[call.name];
  if (!pattern || usual === undefined) return call;
  const tool = tools.find(({ name }) => pattern.test(text(name)));
  const name = text(tool?.name) || usual;
  if (call.name === BUILT_IN.endCall) return { ...call, name, arguments: {} };
  const { properties, required } = object(tool?.parameters);
  const parameter = text(list(required)[0]) || Object.keys(object(properties))[0] || "dtmf";
  return { ...call, name, arguments: { [parameter]: text(object(call.arguments).digits) } };
}
