import type { FailedRequest, ModelFailure, ModelRequest } from "../ports/text-model";
import { quotesAnswer } from "./provider-error";

const TOKEN = /[\w*.…-]+/g;
/** Beginnings of keys in the usual forms. */
const KEY = /^(?:sk|gsk|xai|pk|key)[-_][\w*.…-]{3}/i;
const MASK = "***";
/** Shorter texts of the conversation are common words. In characters. */
const MIN_WORDS_LENGTH = 4;
/** A message that shares this many characters with the conversation quotes it. */
const QUOTE_LENGTH = 24;
const MAX_LENGTH = 500;

type Request = Pick<ModelRequest, "model" | "credential" | "system" | "messages">;

/** What the server's log may contain of a failed request. */
export function failedRequest(failure: ModelFailure, request: Request): FailedRequest {
  const { model, credential } = request;
  const address = model.baseUrl ?? credential?.baseUrl;
  const reason = () => loggableReason(failure, request);
  return { model, ...(address !== undefined && { host: new URL(address).host }), reason };
}

/** The message of a failure, without keys and without words of the conversation. */
function loggableReason(failure: ModelFailure, request: Request): string {
  if (quotesAnswer(failure.cause)) return "The provider's answer could not be read.";
  const key = request.credential?.apiKey ?? "";
  let reason = failure.message;
  if (key !== "") reason = reason.replaceAll(key, "[key]");
  reason = reason.replace(TOKEN, (token) => (KEY.test(token) || token.includes(MASK) ? "[key]" : token));
  const said = [request.system, ...request.messages.map(({ content }) => content)];
  for (const words of said.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]))
    if (words.length >= MIN_WORDS_LENGTH) reason = reason.replaceAll(words, "[…]");
  if (said.some((text) => overlaps(reason, text)))
    return "The provider's message quotes the conversation; the log of the chat has it.";
  return reason.slice(0, MAX_LENGTH).toWellFormed();
}

function overlaps(reason: string, text: string): boolean {
  for (let at = 0; at + QUOTE_LENGTH <= reason.length; at++)
    if (text.includes(reason.slice(at, at + QUOTE_LENGTH))) return true;
  return false;
}
