import type { ModelEntry, ModelSource } from "../catalog/load-catalog";
import { BoundExceeded } from "../outbound/bounds";
import { ModelFailure, type FailureKind } from "../ports/text-model";

type Json = Readonly<Record<string, unknown>>;

/** HTTP statuses and error types for which a retry is pointless: the key, the model, the request or the quota is wrong. */
const PERMANENT_STATUSES: readonly unknown[] = [400, 401, 402, 403, 404, 405, 410, 413, 415, 422];
const PERMANENT_TYPES =
  /^(invalid_request_error|invalid_api_key|authentication_error|permission_error|billing_error|not_found_error|model_not_found|model_decommissioned|request_too_large|context_length_exceeded|insufficient_quota|content_policy_violation)$/;
const KEY_TYPES = /^(invalid_api_key|authentication_error|permission_error)$/;
const LIMIT_TYPES =
  /^(rate_limit_error|rate_limit_exceeded|insufficient_quota|billing_error|overloaded_error)$/;
const UNKNOWN_MODEL_TYPES = /^model_(not_found|decommissioned)$/;
/** Matches the messages of Ollama, vLLM and Anthropic, which send status 404 without an error type of their own. */
const UNKNOWN_MODEL_MESSAGE = /\bmodel\b/i;
/**
 * Refusals of functions: Ollama ("… does not support tools"), DeepSeek ("… does not support Function Calling"), Groq
 * ("`tool calling` is not supported with this model"), Mistral ("Function calling is not enabled for this model"),
 * OpenAI ("'tools' is not supported with this model"), OpenRouter ("No endpoints found that support tool use"), vLLM
 * ("… requires --enable-auto-tool-choice …") and llama.cpp ("tools param requires --jinja flag", "Unsupported param: tools").
 */
const NO_TOOLS_MESSAGE =
  /\bdoes not support (?:tools?|functions?)\b|\b(?:tool|function)[ _]?(?:calling|use|calls)\W{0,2} is not (?:supported|enabled)\b|'tools' is not supported\b|\bno endpoints found that support (?:tool use|the provided 'tool_choice')|--enable-auto-tool-choice\b|\btools param requires\b|\bunsupported param: tools\b/i;
const MAX_MESSAGE_LENGTH = 500;
const MAX_QUOTE_LENGTH = 200;

type Model = Pick<ModelEntry, "id" | "provider" | "model" | "successor" | "namedBy">;

/** Converts an error of a provider's SDK or stream, with its type and message. @param timedOut whether the request was aborted */
export function modelFailure(error: unknown, timedOut: boolean, model: Model): ModelFailure {
  if (error instanceof ModelFailure && !timedOut) return error;
  if (timedOut)
    return new ModelFailure("The model did not answer in time.", { kind: "timeout", cause: error });
  const nested = objects(error);
  const types = nested.flatMap(({ type, code }) => [type, code]).filter((one) => typeof one === "string");
  const type = types.find((one) => one !== "error");
  const own = nested.map(({ message }) => message).find((one) => typeof one === "string" && one !== "");
  const message = typeof own === "string" ? own : typeof error === "string" ? error : "The model failed.";
  const statuses = nested.flatMap(({ statusCode, status, code }) => [statusCode, status, code]);
  const noTools = NO_TOOLS_MESSAGE.test(message);
  const permanent =
    noTools ||
    types.some((one) => PERMANENT_TYPES.test(one)) ||
    statuses.some((one) => PERMANENT_STATUSES.includes(one));
  const said = type === undefined || message.includes(type) ? message : `${type}: ${message}`;
  const unknownModel =
    types.some((one) => UNKNOWN_MODEL_TYPES.test(one)) ||
    (statuses.includes(404) && UNKNOWN_MODEL_MESSAGE.test(message));
  const [kind, text] = noTools
    ? (["tools_refused", noToolsMessage(model, said)] as const)
    : unknownModel
      ? (["unknown_model", unknownModelMessage(model, said)] as const)
      : ([kindOf(error, { types, statuses, permanent }), said] as const);
  return new ModelFailure(text.slice(0, MAX_MESSAGE_LENGTH), {
    retryAfterMs: retryAfterMs(error),
    permanent,
    kind,
    cause: error,
  });
}

/** Errors of the SDK about an answer that it cannot read. Their messages quote the answer. */
const UNREADABLE =
  /^AI_(JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody|NoContentGenerated)Error$/;

interface Signs {
  readonly types: readonly string[];
  readonly statuses: readonly unknown[];
  readonly permanent: boolean;
}

function kindOf(error: unknown, { types, statuses, permanent }: Signs): FailureKind {
  const has = (...some: number[]) => statuses.some((status) => some.includes(status as number));
  if (types.some((type) => KEY_TYPES.test(type)) || has(401, 403)) return "key_refused";
  if (types.some((type) => LIMIT_TYPES.test(type)) || has(402, 429)) return "limited";
  if (permanent) return "refused";
  if (error instanceof BoundExceeded || quotesAnswer(error)) return "unusable";
  const isAnswer = types.some((type) => !SYSTEM_CODE.test(type)) || statuses.some(isErrorStatus);
  return isAnswer ? "failed" : "unreachable";
}

/** Codes of the network and of this service, such as ECONNREFUSED. */
const SYSTEM_CODE = /^[A-Z_]+$/;
const isErrorStatus = (status: unknown): boolean => typeof status === "number" && status >= 400;

/** Whether the answer could not be read, so that the error's message quotes it. */
export const quotesAnswer = (error: unknown): boolean =>
  error instanceof Error && UNREADABLE.test(error.name);

/** What to do about an unknown model, by the place that names it. */
const REMEDIES: Readonly<Record<ModelSource | "catalog", (id: string) => string>> = {
  "--model": () => "Name another model with --model.",
  MODEL_NAME: () => "MODEL_NAME names it, in the environment or in .env: name another model there.",
  setModelMapping: (id) => `A mapping names it: name another model for ${id} with setModelMapping (GraphQL).`,
  CATALOG_FILE: (id) => `CATALOG_FILE names it: name another model for ${id} there.`,
  catalog: (id) =>
    `The built-in catalog names it. Name another model for ${id} with setModelMapping (GraphQL) or in CATALOG_FILE.`,
};

const noToolsMessage = ({ provider, model }: Model, said: string): string =>
  `The model "${model}" of ${provider} takes no functions (tools). It answers without them, with passages in its prompt. The provider said: ${said.slice(0, MAX_QUOTE_LENGTH)}`;

function unknownModelMessage(
  { id, provider, model, successor, namedBy: source }: Model,
  said: string,
): string {
  const which = source === "--model" ? "" : `, which ${id} stands for`;
  const hint = successor ? ` ${provider} names ${successor.model} as its successor.` : "";
  return `${provider} does not know the model "${model}"${which}. ${REMEDIES[source ?? "catalog"](id)}${hint} The provider said: ${said.slice(0, MAX_QUOTE_LENGTH)}`;
}

/** The error and the errors nested in it, innermost first: that one is the provider's own. */
function objects(error: unknown, depth = 3): Json[] {
  if (typeof error !== "object" || error === null || depth === 0) return [];
  const { error: inner, data } = error as { error?: unknown; data?: unknown };
  return [...objects(data, depth - 1), ...objects(inner, depth - 1), error as Json];
}

/** Pause that the provider asks for, in milliseconds; 0 if it names none. */
function retryAfterMs(error: unknown): number {
  const { responseHeaders } = (error ?? {}) as { responseHeaders?: Record<string, string> };
  const seconds = Number(responseHeaders?.["retry-after"]);
  return seconds > 0 ? seconds * 1_000 : 0;
}
