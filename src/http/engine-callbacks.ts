import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { callbackOf } from "../account/audit/note";
import { callOf, noteHeard, type FoundCall, type Presented } from "../channels/calls/live-call";
import { Calls } from "../channels/calls/calls";
import { openInbound } from "../channels/calls/inbound-call";
import { CALL_HEADER, SECRET_HEADER } from "../channels/calls/order";
import { receiveMessage, type Received } from "../channels/calls/receive-message";
import { speak } from "../conversation/turns/spoken-turn";
import type { Database } from "../platform/database/database";
import { newId } from "../platform/database/ids";
import { publicError } from "../platform/errors";
import type { VoiceEngine } from "../platform/ports/voice-engine";
import { completionAnswer, type CompletionAnswer } from "./completion-answer";
import { readCompletion, type CompletionRequest } from "./completion-request";
import type { RateLimits } from "./limits";
import type { Metrics } from "./metrics";

/** Answers a request itself. The body is parsed JSON, of any shape. */
export type Serve = (req: IncomingMessage, res: ServerResponse, body: unknown) => Promise<void>;

export interface EngineCallbacks {
  /** Takes what the engine tells of a call. */
  readonly engineServerMessages: Serve;
  /** Says what the assistant says in a call. */
  readonly engineChatCompletions: Serve;
}

interface Parts {
  readonly database: Database;
  readonly engine: VoiceEngine;
  readonly metrics: Pick<Metrics, "countCallback">;
  /** Address of the client. */
  readonly addressOf: (req: IncomingMessage) => string;
  readonly limits: Pick<RateLimits, "admits">;
  readonly logger: Logger;
}

/** Spec gap: any JSON is answered so, whatever becomes of it. */
const TAKEN = 201;
/** Time in which a callback is repeated after transient errors: engines wait 20 s for its answer. */
const RETRY_FOR_MS = 12_000;
const RETRY_PAUSE_MS = 500;
/** The database is away, a statement took too long, or two transactions waited for each other. */
const TRANSIENT: ReadonlySet<string> = new Set(["UNAVAILABLE", "TIMEOUT", "CONFLICT"]);
const UNKNOWN_CALL = "I'm sorry, this call is not known here. Goodbye.";

/**
 * What a voice engine calls. Only what carries the secret of a live call has an effect; all else is answered in the
 * same way, and counted.
 */
export function engineCallbacks(parts: Parts): EngineCallbacks {
  return {
    engineServerMessages: (req, res, body) => receive(parts, req, res, body),
    engineChatCompletions: (req, res, body) => complete(parts, req, res, body),
  };
}

/** What became of a message: applied or not, or that it was not looked at. */
type Taken = Omit<Received, "outcome"> & { readonly outcome: Received["outcome"] | "refused" | "limited" };

async function receive(
  parts: Parts,
  req: IncomingMessage,
  res: ServerResponse,
  body: unknown,
): Promise<void> {
  const { database, engine, metrics } = parts;
  const take = async (): Promise<Taken> => {
    const asked = presented(req, body);
    const known = () => callOf(database, asked);
    const told = await known();
    if (!(await admitted(parts, req, told))) return { outcome: "limited" };
    const found =
      told ?? ((await openInbound(database, asked, parts.addressOf(req))) ? await known() : undefined);
    return found
      ? receiveMessage(audited(parts, req, found, "engineServerMessages"), body)
      : { outcome: "refused" };
  };
  const { type } = engine.read(body);
  // A second attempt at functions would wait for the answer of the first one, which failed.
  const work = type === "tool-calls" ? take : () => insist(res, take);
  const received = await unless<Taken>(parts, { outcome: "ignored" }, work);
  metrics.countCallback(type, received.outcome);
  res.writeHead(TAKEN, { "Content-Type": "application/json; charset=utf-8" });
  res.end(JSON.stringify(received.answer ?? {}));
}

/** The call with a scope that records what the engine changes of it. */
function audited(
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

/** Whether a callback is within its limit. What carries the secret of a live call always is. */
async function admitted(
  { limits }: Parts,
  req: IncomingMessage,
  found: FoundCall | undefined,
): Promise<boolean> {
  // The last words of a call, told after its end, do not wait for what strangers send from the same address.
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
  const found = await unless(parts, undefined, () => callOf(database, presented(req, body)));
  const live = found && isLive(found) ? found : undefined;
  const refused = (await admitted(parts, req, found)) ? "refused" : "limited";
  metrics.countCallback("completion", live ? "applied" : refused);
  const answer = completionAnswer(
    res,
    { id: `chatcmpl-${newId()}`, model: request.model, status: TAKEN },
    request.stream,
  );
  if (live)
    await unless(parts, undefined, () =>
      converse(audited(parts, req, live, "engineChatCompletions"), request, body, answer, res),
    );
  else answer.text(UNKNOWN_CALL);
  answer.end();
}

async function converse(
  found: FoundCall,
  { history, asked }: CompletionRequest,
  body: unknown,
  answer: CompletionAnswer,
  res: ServerResponse,
): Promise<void> {
  const { scope, chat } = found;
  const given = new AbortController();
  // The person interrupted, or hung up: what would be said now is not wanted any more.
  res.on("close", () => given.abort());
  const heard = noteHeard(found, body).catch(() => undefined);
  const question = {
    chat,
    history,
    signal: given.signal,
    answering: (spoken: Record<string, unknown>) => scope.of(Calls).change(chat.id, { spoken }),
  };
  for await (const part of speak(scope, question))
    if (part.type === "text") answer.text(part.text);
    else if (part.type === "cut") answer.cut(part.reason);
    else if (part.type === "withdrawn") answer.takeBack();
    else answer.call(asked(part));
  await heard;
}

function header({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return typeof value === "string" ? value : undefined;
}

function presented(req: IncomingMessage, body: unknown): Presented {
  const bearer = /^Bearer +(\S+) *$/i.exec(req.headers.authorization ?? "")?.[1];
  return { secret: header(req, SECRET_HEADER) ?? bearer, callId: header(req, CALL_HEADER), body };
}

/** Logs what goes wrong and returns `otherwise`: the contract knows no other answer than that of success. */
async function unless<R>({ logger }: Parts, otherwise: R, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    logger.error({ err: error }, "an engine's callback failed");
    return otherwise;
  }
}

/**
 * Repeats `work` after a transient error while the engine still waits. Engines do not repeat a callback that was
 * answered 201, so its words would be lost. `work` may run twice: the second time changes nothing.
 */
async function insist<R>(res: ServerResponse, work: () => Promise<R>): Promise<R> {
  const began = performance.now();
  for (;;)
    try {
      return await work();
    } catch (error) {
      const isOver = res.closed || performance.now() - began > RETRY_FOR_MS;
      if (isOver || !TRANSIENT.has(publicError(error).code)) throw error;
      await sleep(RETRY_PAUSE_MS);
    }
}
