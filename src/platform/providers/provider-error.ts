import type { ModelEntry } from "../catalog/load-catalog";
import { ModelFailure } from "../ports/text-model";

type Json = Readonly<Record<string, unknown>>;

/** HTTP statuses and error types for which a retry is pointless: the key, the model, the request or the quota is wrong. */
const PERMANENT_STATUSES: readonly unknown[] = [400, 401, 402, 403, 404, 405, 410, 413, 415, 422];
const PERMANENT_TYPES =
  /^(invalid_request_error|invalid_api_key|authentication_error|permission_error|billing_error|not_found_error|model_not_found|model_decommissioned|request_too_large|context_length_exceeded|insufficient_quota|content_policy_violation)$/;
const UNKNOWN_MODEL_TYPES = /^model_(not_found|decommissioned)$/;
/** Matches the messages of Ollama, vLLM and Anthropic, which send status 404 without an error type of their own. */
const UNKNOWN_MODEL_MESSAGE = /\bmodel\b/i;
const MAX_MESSAGE_LENGTH = 500;
const MAX_QUOTE_LENGTH = 200;

type Model = Pick<ModelEntry, "id" | "provider" | "model" | "successor">;

/** Converts an error of a provider's SDK or stream, with its type and message. @param timedOut whether the request was aborted */
export function modelFailure(error: unknown, timedOut: boolean, model: Model): ModelFailure {
  if (error instanceof ModelFailure && !timedOut) return error;
  if (timedOut) return new ModelFailure("The model did not answer in time.", { cause: error });
  const nested = objects(error);
  const types = nested.flatMap(({ type, code }) => [type, code]).filter((one) => typeof one === "string");
  const type = types.find((one) => one !== "error");
  const own = nested.map(({ message }) => message).find((one) => typeof one === "string" && one !== "");
  const message = typeof own === "string" ? own : typeof error === "string" ? error : "The model failed.";
  const statuses = nested.flatMap(({ statusCode, status, code }) => [statusCode, status, code]);
  const permanent =
    types.some((one) => PERMANENT_TYPES.test(one)) ||
    statuses.some((one) => PERMANENT_STATUSES.includes(one));
  const said = type === undefined || message.includes(type) ? message : `${type}: ${message}`;
  const unknownModel =
    types.some((one) => UNKNOWN_MODEL_TYPES.test(one)) ||
    (statuses.includes(404) && UNKNOWN_MODEL_MESSAGE.test(message));
  const text = unknownModel ? unknownModelMessage(model, said) : said;
  return new ModelFailure(text.slice(0, MAX_MESSAGE_LENGTH), {
    retryAfterMs: retryAfterMs(error),
    permanent,
    unknownModel,
    cause: error,
  });
}

function unknownModelMessage({ id, provider, model, successor }: Model, said: string): string {
  const hint = successor ? ` ${provider} names ${successor.model} as its successor.` : "";
  return `${provider} does not know the model "${model}", which ${id} stands for. Name another model for ${id} with setModelMapping (GraphQL) or in CATALOG_FILE.${hint} The provider said: ${said.slice(0, MAX_QUOTE_LENGTH)}`;
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
