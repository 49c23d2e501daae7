import { setTimeout as sleep } from "node:timers/promises";
import type { ChatRow } from "../../chats/chats/chats";
import { Messages } from "../../chats/chats/messages";
import type { VoiceConfiguration } from "../../assistants/configurations/configurations";
import { PinnedAssistants } from "../../assistants/versions/pinned-assistants";
import { newId } from "../../platform/database/values/ids";
import type { Scope } from "../../platform/database/scope";
import type { JsonObject } from "../../platform/json/json-object";
import {
  isPermanent,
  pauseAfter,
  type CutReason,
  type ModelCall,
  type ModelMessage,
  type ModelPart,
} from "../../platform/ports/text-model";
import type { Ending } from "../workflows/workflow-position";
import { speakerOf, type Speaker } from "../workflows/speaker";
import { BUILT_IN, builtInFunctions } from "../functions/functions";
import { apologyFor } from "./apology";
import { askModel } from "./ask-model";
import { countAnswer, recordFailedAnswer } from "./failed-answer";
import { functionResults } from "./history";
import { StatusEvents } from "./status-events";
import { assemble, type TurnParts, type PreparedTurn } from "./prepare-turn";
import { postMessage, Steps } from "./steps";
import { TokenStream } from "./token-stream";
import { MAX_ROUNDS, RETRY_PAUSES_MS } from "./turn";

/** A question that a voice engine has transcribed. */
export interface SpokenQuestion {
  readonly chat: ChatRow;
  /** The conversation so far, as the engine transcribed it. */
  readonly history: readonly ModelMessage[];
  /** Aborted if the person interrupts or hangs up. */
  readonly signal: AbortSignal;
  /** Called before the first word, with metadata for the messages that the transcript of the answer becomes. */
  readonly onAnswer: (metadata: JsonObject) => Promise<void>;
}

const SILENCE_NOTE: ModelMessage = {
  role: "user",
  content: "(Note: the call has begun, and nobody has spoken.)",
};

/**
 * Answers a question in a call of a voice engine. Yields text as the model generates it, and calls of built-in
 * functions, which the engine performs. Other function calls are performed and stored here. The text is stored later,
 * from the engine's transcript.
 */
export async function* speak(scope: Scope, question: SpokenQuestion): AsyncGenerator<ModelPart, void> {
  const { chat, signal } = question;
  const tokens = new TokenStream(scope, chat.id);
  const status = new StatusEvents(scope, chat);
  try {
    yield* converse(scope, question, tokens, status);
  } catch (error) {
    if (!signal.aborted) {
      await recordFailedAnswer(scope, chat.id, error as Error);
      yield { type: "text", text: await apologyFor(question.history) };
    }
  } finally {
    await tokens.flush();
    status.add("listening");
    await status.flush();
  }
}

async function* converse(
  scope: Scope,
  question: SpokenQuestion,
  tokens: TokenStream,
  status: StatusEvents,
): AsyncGenerator<ModelPart, void> {
  const speaker = await speakerIn(scope, question.chat);
  if ("ending" in speaker) return yield* finish(scope, question, speaker.ending, status);
  let turn = await prepare(scope, speaker, question.history);
  let messages = [...turn.messages];
  status.add("thinking"); // recorded while the model generates, so that the answer does not wait for the database
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const current = turn;
    const { text, calls, reason } = yield* relay(stream(scope, turn, messages, question.signal), (piece) => {
      status.speaking(() => question.onAnswer(metadataOf(current)));
      tokens.add(piece);
    });
    if (reason) status.enqueue(() => question.onAnswer({ ...metadataOf(current), finishReason: reason }));
    if (calls.length === 0) {
      const arrival = await turn.position?.afterAnswer();
      if (arrival && "ending" in arrival) yield* finish(scope, question, arrival.ending, status);
      return;
    }
    const { results, steps } = await callFunctions(scope, turn, calls);
    const builtIn = builtInFunctions(turn.configuration);
    const engineCalls = calls.filter((call) => builtIn.some(({ name }) => name === call.name));
    if (turn.position && engineCalls.some(({ name }) => name === BUILT_IN.endCall)) yield* goodbye(turn);
    // The engine speaks the next text by itself, such as the message at the end.
    if (engineCalls.length > 0) status.enqueue(() => question.onAnswer({}));
    for (const call of engineCalls) yield { type: "call", ...call };
    if (engineCalls.length > 0) return;
    const next = steps.next();
    if (next && "ending" in next) return yield* finish(scope, question, next.ending, status);
    turn = next ? await prepare(scope, next, question.history, true) : steps.continuedTurn();
    messages = next
      ? [...turn.messages]
      : [...messages, { role: "assistant", content: text, calls }, ...results];
  }
  throw new Error(`The model called functions in ${MAX_ROUNDS} rounds without an answer.`);
}

/** The current speaker, or the ending of a workflow whose call the engine has not hung up yet. */
async function speakerIn(scope: Scope, chat: ChatRow): Promise<Speaker | { ending: Ending }> {
  if (chat.ending === null) return speakerOf(scope, chat);
  return { ending: { reason: chat.ending, message: "", metadata: {} } };
}

/** Forwards the parts of an answer except calls. @returns its text and calls, and why it was cut */
async function* relay(
  parts: AsyncIterable<ModelPart>,
  say: (piece: string) => void,
): AsyncGenerator<ModelPart, { text: string; calls: ModelCall[]; reason: CutReason | undefined }> {
  let text = "";
  let reason: CutReason | undefined;
  const calls: ModelCall[] = [];
  for await (const part of parts)
    if (part.type === "call") calls.push({ id: part.id, name: part.name, arguments: part.arguments });
    else if (part.type === "cut") {
      reason = part.reason;
      yield part;
    } else if (part.type === "withdrawn") {
      text = "";
      yield part;
    } else {
      text += part.text;
      say(part.text);
      yield part;
    }
  return { text, calls, reason };
}

/** The end message of the current assistant: in a workflow the engine does not know which assistant speaks. */
function* goodbye({ configuration }: PreparedTurn): Generator<ModelPart, void> {
  const { endCallMessage = "" } = configuration as Partial<VoiceConfiguration>;
  if (endCallMessage.trim() !== "") yield { type: "text", text: endCallMessage };
}

/** Ends a workflow: yields its last message, then lets the engine hang up. The reason is stored until it has. */
async function* finish(
  scope: Scope,
  { chat, onAnswer }: SpokenQuestion,
  { reason, message, metadata }: Ending,
  status: StatusEvents,
): AsyncGenerator<ModelPart, void> {
  await scope.table("chats").where({ id: chat.id }).update({ ending: reason });
  if (message !== "") {
    status.speaking(() => onAnswer(metadata));
    yield { type: "text", text: message };
  }
  yield { type: "call", id: `call_${newId()}`, name: BUILT_IN.endCall, arguments: {} };
}

const metadataOf = ({ metadata, citations }: PreparedTurn): JsonObject => ({
  ...metadata,
  ...(citations.length > 0 && { citations }),
});

/** Streams an answer of the model. Retries after a pause if the model fails before its first part. */
async function* stream(
  scope: Scope,
  turn: PreparedTurn,
  messages: readonly ModelMessage[],
  callerSignal: AbortSignal,
): AsyncGenerator<ModelPart, void> {
  for (let failures = 0; ; failures++) {
    const signal = AbortSignal.any([callerSignal, AbortSignal.timeout(scope.ports.models.timeoutMs)]);
    let hasStarted = false;
    let hasCalled = false;
    try {
      for await (const part of askModel(scope, turn, messages, signal)) {
        hasStarted = true;
        hasCalled ||= part.type === "call";
        yield part;
      }
      if (!hasStarted) throw new Error("The model returned an empty answer.");
      if (!hasCalled) await countAnswer(scope, turn);
      return;
    } catch (error) {
      const pause = RETRY_PAUSES_MS[failures];
      if (hasStarted || pause === undefined || callerSignal.aborted || isPermanent(error)) throw error;
      await sleep(pauseAfter(error, pause), undefined, { signal: callerSignal });
    }
  }
}

/** Calls the functions that the engine does not perform, and stores calls and results. @returns results for the model */
async function callFunctions(
  scope: Scope,
  turn: PreparedTurn,
  calls: readonly ModelCall[],
): Promise<{ results: ModelMessage[]; steps: Steps }> {
  await postMessage(scope, turn, {
    role: "ASSISTANT",
    content: null,
    toolCalls: calls.map((call) => ({ ...call })),
  });
  const results: ModelMessage[] = [];
  const steps = new Steps(scope, turn);
  for (const call of calls) {
    const content = await steps.handle(call);
    if (content !== undefined) results.push({ role: "tool", content, answers: call });
  }
  return { results, steps };
}

/** Calls functions for an engine that runs the model itself. */
export async function callFunctionsForEngine(
  scope: Scope,
  chat: ChatRow,
  calls: readonly ModelCall[],
): Promise<(ModelCall & { text: string })[]> {
  const speaker = await speakerOf(scope, chat);
  if ("ending" in speaker) return calls.map((call) => ({ ...call, text: "The conversation has ended." }));
  const { results } = await callFunctions(scope, await prepare(scope, speaker, []), calls);
  return calls.map((call) => ({
    ...call,
    text: results.find(({ answers }) => answers?.id === call.id)?.content ?? "",
  }));
}

/** @param handedOver whether a workflow has handed the conversation to this speaker during the turn */
async function prepare(
  scope: Scope,
  speaker: Speaker,
  history: readonly ModelMessage[],
  handedOver = false,
): Promise<PreparedTurn> {
  const configuration = await scope.of(PinnedAssistants).configuration("voice", speaker.assistant);
  const question = history.findLast(({ role }) => role === "user")?.content ?? "";
  const chat = speaker.chat as TurnParts["chat"]; // a stored row has these columns too
  const [turn, stored] = await Promise.all([
    assemble(scope, { ...speaker, chat, configuration, history: [], question, upTo: 0, handedOver }),
    scope.of(Messages).history(chat.id),
  ]);
  // The engine's history lacks the function results of earlier turns.
  const system = [turn.request.system, functionResults(stored)].filter(Boolean).join("\n\n");
  const messages = history.length > 0 ? history : [SILENCE_NOTE];
  return { ...turn, messages, request: { ...turn.request, system } };
}
