import { setTimeout as sleep } from "node:timers/promises";
import type { ChatRow } from "../../chats/chats/chats";
import { keepError } from "../../chats/chats/keep-error";
import { Messages } from "../../chats/chats/messages";
import { Configurations, type VoiceConfiguration } from "../../assistants/configurations/configurations";
import { newId } from "../../platform/database/ids";
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
import type { Ending } from "../workflows/course";
import { speakerOf, type Speaker } from "../workflows/speaker";
import { BUILT_IN, builtInFunctions } from "../functions/functions";
import { functionsSoFar } from "./history";
import { Notes } from "./notes";
import { assemble, type Parts, type Prepared } from "./prepare-turn";
import { say, Steps } from "./steps";
import { Tokens } from "./tokens";
import { APOLOGY, MOST_ROUNDS, RETRIES } from "./turn";

/** What a voice engine wants answered. */
export interface SpokenQuestion {
  readonly chat: ChatRow;
  /** What was said so far, as the engine heard it. */
  readonly history: readonly ModelMessage[];
  /** Given up: the person interrupted, or hung up. */
  readonly signal: AbortSignal;
  /** Told before the first word: what stands on the messages that the answer becomes when it is heard. */
  readonly answering: (metadata: JsonObject) => Promise<void>;
}

const NOTHING_SAID: ModelMessage = {
  role: "user",
  content: "(Note: the call has begun, and nobody has spoken.)",
};
/**
 * Answers in a call that an engine holds: words as they come, and calls of the built-in functions, which are the
 * engine's to do. What is said is stored when it is heard, by its transcript; calls of functions are stored here.
 */
export async function* speak(scope: Scope, question: SpokenQuestion): AsyncGenerator<ModelPart, void> {
  const { chat, signal } = question;
  const tokens = new Tokens(scope, chat.id);
  const notes = new Notes(scope, chat);
  try {
    yield* converse(scope, question, tokens, notes);
  } catch (error) {
    if (!signal.aborted) {
      await keepError(scope, chat.id, error as Error);
      yield { type: "text", text: APOLOGY };
    }
  } finally {
    await tokens.flush();
    notes.add("listening");
    await notes.written();
  }
}

async function* converse(
  scope: Scope,
  question: SpokenQuestion,
  tokens: Tokens,
  notes: Notes,
): AsyncGenerator<ModelPart, void> {
  const speaker = await speakerIn(scope, question.chat);
  if ("ending" in speaker) return yield* finish(scope, question, speaker.ending, notes);
  let turn = await prepare(scope, speaker, question.history);
  let messages = [...turn.messages];
  notes.add("thinking"); // while the model does: what the database does now holds up nobody
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const now = turn;
    const { text, calls, reason } = yield* answer(listen(scope, turn, messages, question.signal), (piece) => {
      notes.speaking(() => question.answering(metadataOf(now)));
      tokens.add(piece);
    });
    if (reason) notes.next(() => question.answering({ ...metadataOf(now), finishReason: reason }));
    if (calls.length === 0) {
      const arrival = await turn.course?.afterAnswer();
      if (arrival && "ending" in arrival) yield* finish(scope, question, arrival.ending, notes);
      return;
    }
    const { told, steps } = await callOwn(scope, turn, calls);
    const builtIn = builtInFunctions(turn.configuration);
    const engines = calls.filter((call) => builtIn.some(({ name }) => name === call.name));
    if (turn.course && engines.some(({ name }) => name === BUILT_IN.endCall)) yield* goodbye(turn);
    // What is heard next is the engine's own, such as the message at the end.
    if (engines.length > 0) notes.next(() => question.answering({}));
    for (const call of engines) yield { type: "call", ...call };
    if (engines.length > 0) return;
    const next = steps.next();
    if (next && "ending" in next) return yield* finish(scope, question, next.ending, notes);
    turn = next ? await prepare(scope, next, question.history, true) : steps.stayed();
    messages = next
      ? [...turn.messages]
      : [...messages, { role: "assistant", content: text, calls }, ...told];
  }
  throw new Error(`The model called functions in ${MOST_ROUNDS} rounds without an answer.`);
}

/** Who speaks now; a workflow that has ended stays so until the engine has hung up. */
async function speakerIn(scope: Scope, chat: ChatRow): Promise<Speaker | { ending: Ending }> {
  if (chat.ending === null) return speakerOf(scope, chat);
  return { ending: { reason: chat.ending, message: "", metadata: {} } };
}

/** Hands words on as they come. @returns all of them, and what the model calls */
async function* answer(
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

/** In a workflow the engine does not know who says goodbye. */
function* goodbye({ configuration }: Prepared): Generator<ModelPart, void> {
  const { endCallMessage = "" } = configuration as Partial<VoiceConfiguration>;
  if (endCallMessage.trim() !== "") yield { type: "text", text: endCallMessage };
}

/** The end of a workflow: its last words, and the engine hangs up. Why it ended is kept until the engine has. */
async function* finish(
  scope: Scope,
  { chat, answering }: SpokenQuestion,
  { reason, message, metadata }: Ending,
  notes: Notes,
): AsyncGenerator<ModelPart, void> {
  await scope.table("chats").where({ id: chat.id }).update({ ending: reason });
  if (message !== "") {
    notes.speaking(() => answering(metadata));
    yield { type: "text", text: message };
  }
  yield { type: "call", id: `call_${newId()}`, name: BUILT_IN.endCall, arguments: {} };
}

const metadataOf = ({ metadata, citations }: Prepared): JsonObject => ({
  ...metadata,
  ...(citations.length > 0 && { citations }),
});

/** Asks the model, and once more after a pause when it fails before its first word. */
async function* listen(
  scope: Scope,
  turn: Prepared,
  messages: readonly ModelMessage[],
  given: AbortSignal,
): AsyncGenerator<ModelPart, void> {
  const { local, remote } = scope.ports.models;
  for (let failures = 0; ; failures++) {
    const signal = AbortSignal.any([given, AbortSignal.timeout(scope.ports.models.timeoutMs)]);
    let begun = false;
    try {
      for await (const part of (turn.request.credential ? remote : local).stream({
        ...turn.request,
        messages,
        signal,
      })) {
        begun = true;
        yield part;
      }
      if (!begun) throw new Error("The model answered with nothing.");
      return;
    } catch (error) {
      const pause = RETRIES[failures];
      if (begun || pause === undefined || given.aborted || isPermanent(error)) throw error;
      await sleep(pauseAfter(error, pause), undefined, { signal: given });
    }
  }
}

/** Calls the functions that are not the engine's, and keeps all of it. @returns what the model is told, and where it has led */
async function callOwn(
  scope: Scope,
  turn: Prepared,
  calls: readonly ModelCall[],
): Promise<{ told: ModelMessage[]; steps: Steps }> {
  await say(scope, turn, { role: "ASSISTANT", content: null, toolCalls: calls.map((call) => ({ ...call })) });
  const told: ModelMessage[] = [];
  const steps = new Steps(scope, turn);
  for (const call of calls) {
    const content = await steps.take(call);
    if (content !== undefined) told.push({ role: "tool", content, answers: call });
  }
  return { told, steps };
}

/** Calls functions that an engine asks for by itself. */
export async function performSpoken(
  scope: Scope,
  chat: ChatRow,
  calls: readonly ModelCall[],
): Promise<(ModelCall & { text: string })[]> {
  const speaker = await speakerOf(scope, chat);
  if ("ending" in speaker) return calls.map((call) => ({ ...call, text: "The conversation has ended." }));
  const { told } = await callOwn(scope, await prepare(scope, speaker, []), calls);
  return calls.map((call) => ({
    ...call,
    text: told.find(({ answers }) => answers?.id === call.id)?.content ?? "",
  }));
}

/** @param handedOver whether the conversation has come to the speaker in this turn */
async function prepare(
  scope: Scope,
  speaker: Speaker,
  history: readonly ModelMessage[],
  handedOver = false,
): Promise<Prepared> {
  const configuration = await scope.of(Configurations).of("voice", speaker.assistant);
  const question = history.findLast(({ role }) => role === "user")?.content ?? "";
  const chat = speaker.chat as Parts["chat"]; // a stored row has the columns of turns too
  const [turn, stored] = await Promise.all([
    assemble(scope, { ...speaker, chat, configuration, history: [], question, upTo: 0, handedOver }),
    scope.of(Messages).history(chat.id),
  ]);
  // The engine knows what was said, but not what functions answered earlier in the call.
  const system = [turn.request.system, functionsSoFar(stored)].filter(Boolean).join("\n\n");
  const messages = history.length > 0 ? history : [NOTHING_SAID];
  return { ...turn, messages, request: { ...turn.request, system } };
}
