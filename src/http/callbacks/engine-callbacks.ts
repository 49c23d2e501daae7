import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { callbackOf } from "../../account/audit/note";
import { callOf, noteHeard, type FoundCall, type EngineRequest } from "../../channels/calls/live-call";
import { Calls } from "../../channels/calls/calls";
import { openInbound } from "../../channels/calls/inbound-call";
import { CALL_HEADER, SECRET_HEADER } from "../../channels/calls/order";
import { receiveMessage, type CallbackResult } from "../../channels/calls/receive-message";
import { speak } from "../../conversation/turns/spoken-turn";
import type { Database } from "../../platform/database/database";
import { newId } from "../../platform/database/values/ids";
import { isTransient } from "../../platform/errors";
import type { VoiceEngine } from "../../platform/ports/voice-engine";
import { completionAnswer, type CompletionAnswer } from "./completion-answer";
import { readCompletion, type CompletionRequest } from "./completion-request";
import type { RateLimits } from "../limits/limits";
import type { Metrics } from "../metrics/metrics";

/** Answers a request directly. The body is parsed JSON or a parsed form, of any shape. */
export type CallbackHandler = (req: IncomingMessage, res: ServerResponse, body: unknown) => Promise<void>;

export interface EngineCallbacks {
  /** Receives messages about calls. */
  readonly engineServerMessages: CallbackHandler;
  /** Generates the assistant's next words in a call. */
  readonly engineChatCompletions: CallbackHandler;
}

interface Parts {
  readonly database: Database;
  readonly engine: VoiceEngine;
  readonly metrics: Pick<Metrics, "countCallback">;
  /** IP address of the client. */
  readonly addressOf: (req: IncomingMessage) => string;
  readonly limits: Pick<RateLimits, "admits">;
  readonly logger: Logger;
}

/** Spec gap: every JSON body is answered with this status, whatever its effect. */
const CALLBACK_STATUS = 201;
/** Time for retries of a callback after transient errors, in ms: engines wait 20 s for the answer. */
const RETRY_FOR_MS = 12_000;
const RETRY_PAUSE_MS = 500;
const UNKNOWN_CALL = "I'm sorry, this call is not known here. Goodbye.";

/**
 * Handlers for the callbacks of voice engines. Only requests that carry the secret of a live call have an effect; all
 * others get the same answer and are counted.
 */
export function engineCallbacks(parts: Parts): EngineCallbacks {
  return {
    engineServerMessages: (req, res, body) => receive(parts, req, res, body),
    engineChatCompletions: (req, res, body) => complete(parts, req, res, body),
  };
}

/** Result of a callback; "refused" and "limited" callbacks are not processed. */
type ReceivedResult = Omit<CallbackResult, "outcome"> & {
  readonly outcome: CallbackResult["outcome"] | "refused" | "limited";
};

async function receive(
  parts: Parts,
  req: IncomingMessage,
  res: ServerResponse,
  body: unknown,
): Promise<void> {
  const { database, engine, metrics } = parts;
  const take = async (): Promise<ReceivedResult> => {
    const request = engineRequestOf(req, body);
    const findCall = () => callOf(database, request);
    const known = await findCall();
    if (!isAdmitted(parts, req, known)) return { outcome: "limited" };
    const found =
      known ?? ((await openInbound(database, request, parts.addressOf(req))) ? await findCall() : undefined);
    return found
      ? receiveMessage(withAudit(parts, req, found, "engineServerMessages"), body)
      : { outcome: "refused" };
  };
  const { type } = engine.read(body);
  // Functions are not retried: a second attempt would wait for the answer of the first, failed one.
  const work = type === "tool-calls" ? take : () => retryTransient(res, take);
  const received = await withFallback<ReceivedResult>(parts, { outcome: "ignored" }, work);
  metrics.countCallback(type, received.outcome);
  res.writeHead(CALLBACK_STATUS, { "Content-Type": "application/json; charset=utf-8" });
  res.end(JSON.stringify(received.answer ?? {}));
}

/** The call with a scope that records the engine's changes in the audit log. */
function withAudit(
  { addressOf }: Parts,
  req: IncomingMessage,
  { scope, ...found }: FoundCall,
  operation: string,
): FoundCall {
  const { id, phoneNumber } = found.chat;
  const about = { operation, recordType: "Call", address: addressOf(req), phoneNumber, fields: [] };
  const callback = callbackOf(scope, about);
  callback.about(id);
  return { ...found, scope: scope.audited(callback) };
}

const isLive = ({ chat }: FoundCall): boolean => chat.status !== "ended";

/** Whether a callback is within its rate limit. Callbacks with the secret of a live call always are. */
function isAdmitted({ limits }: Parts, req: IncomingMessage, found: FoundCall | undefined): boolean {
  // Callbacks of an ended call are limited per call, so that floods from the same address do not delay them.
  return (found && isLive(found)) || limits.admits("callback", req, found?.chat.id);
}

async function complete(
  parts: Parts,
  req: IncomingMessage,
  res: ServerResponse,
  body: unknown,
): Promise<void> {
  const { database, metrics } = parts;
  const request = readCompletion(body);
  const found = await withFallback(parts, undefined, () => callOf(database, engineRequestOf(req, body)));
  const live = found && isLive(found) ? found : undefined;
  const refused = isAdmitted(parts, req, found) ? "refused" : "limited";
  metrics.countCallback("completion", live ? "applied" : refused);
  const answer = completionAnswer(
    res,
    { id: `chatcmpl-${newId()}`, model: request.model, status: CALLBACK_STATUS },
    request.stream,
  );
  if (live)
    await withFallback(parts, undefined, () =>
      converse(withAudit(parts, req, live, "engineChatCompletions"), request, body, answer, res),
    );
  else answer.text(UNKNOWN_CALL);
  answer.end();
}

async function converse(
  found: FoundCall,
  { history, toEngineCall }: CompletionRequest,
  body: unknown,
  answer: CompletionAnswer,
  res: ServerResponse,
): Promise<void> {
  const { scope, chat } = found;
  const aborted = new AbortController();
  // The person interrupted or hung up: the rest of the answer is no longer needed.
  res.on("close", () => aborted.abort());
  const heard = noteHeard(found, body).catch(() => undefined);
  const question = {
    chat,
    history,
    signal: aborted.signal,
    onAnswer: (spoken: Record<string, unknown>) => scope.of(Calls).change(chat.id, { spoken }),
  };
  for await (const part of speak(scope, question))
    if (part.type === "text") answer.text(part.text);
    else if (part.type === "cut") answer.cut(part.reason);
    else if (part.type === "withdrawn") answer.withdraw();
    else answer.call(toEngineCall(part));
  await heard;
}

function header({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === "string" ? value : undefined;
}

function engineRequestOf(req: IncomingMessage, body: unknown): EngineRequest {
  const bearer = /^Bearer +(\S+) *$/i.exec(req.headers.authorization ?? "")?.[1];
  return { secret: header(req, SECRET_HEADER) ?? bearer, callId: header(req, CALL_HEADER), body };
}

/** Logs an error and returns `fallback`, because the contract allows only success answers. */
async function withFallback<R>({ logger }: Parts, fallback: R, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    logger.error({ err: error }, "a voice engine callback failed");
    return fallback;
  }
}

/**
 * Retries `work` after a transient error while the engine still waits. Engines do not repeat a callback that was
 * answered with 201, so its content would be lost. `work` must be idempotent.
 */
async function retryTransient<R>(res: ServerResponse, work: () => Promise<R>): Promise<R> {
  const startedAt = performance.now();
  for (;;)
    try {
      return await work();
    } catch (error) {
      const isOver = res.closed || performance.now() - startedAt > RETRY_FOR_MS;
      if (isOver || !isTransient(error)) throw error;
      await sleep(RETRY_PAUSE_MS);
    }
}
