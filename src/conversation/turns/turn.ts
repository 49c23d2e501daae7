import { setTimeout as sleep } from "node:timers/promises";
import { Chats, type ChatRow } from "../../chats/chats/chats";
import { conversationOf, type Conversation } from "../../chats/chats/store-message";
import type { ChannelConfiguration } from "../../assistants/configurations/configurations";
import type { Scope } from "../../platform/database/scope";
import { publicError } from "../../platform/errors";
import {
  isPermanent,
  ModelFailure,
  pauseAfter,
  type CutReason,
  type ModelCall,
  type ModelMessage,
  type ModelPart,
} from "../../platform/ports/text-model";
import type { Ending } from "../workflows/workflow-position";
import { conclude } from "../workflows/speaker";
import { answerExtras } from "./after-answer";
import { apologize } from "./apology";
import { askModel } from "./ask-model";
import { countAnswer } from "./failed-answer";
import { StatusEvents } from "./status-events";
import { openQuestion, prepare, prepareAfterHandover, type PreparedTurn } from "./prepare-turn";
import { postMessage, Steps } from "./steps";
import { storeIfUnanswered, type AnswerableTurn, type AnswerContent } from "./store-answer";
import { TokenStream } from "./token-stream";

/** Requests to the model in one turn. */
export const MAX_ROUNDS = 10;
/** Pauses before retries of a failed request to the model. */
export const RETRY_PAUSES_MS = [500, 2_000];

/** The chat has ended, or another worker, which presumed this one dead, has answered: this answer is discarded. */
class AlreadyAnswered extends Error {}

interface Answer {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  /** Why the answer was cut; undefined for a complete one. */
  readonly finishReason: CutReason | undefined;
  /** The conversation as it was at the first word. */
  readonly known: Conversation | undefined;
}

/**
 * Answers the messages of a chat since the last answer. Runs as a job, one at a time per chat; a message that arrives
 * in the meantime causes another turn. No transaction is open during requests to models and functions.
 * @param lastAttempt apologize instead of throwing if the database is unavailable, because the job is not retried
 */
export async function takeTurn(scope: Scope, chatId: string, lastAttempt: boolean): Promise<void> {
  const question = await openQuestion(scope, chatId);
  if (!question) return;
  const { chat } = question.speaker;
  let turn: AnswerableTurn = { chat, answered: chat.answeredSequence, upTo: question.upTo, metadata: {} };
  const output = { tokens: new TokenStream(scope, chatId), status: new StatusEvents(scope, chat) };
  output.status.add("thinking");
  try {
    const prepared = (turn = await prepare(scope, question));
    await converse(scope, prepared, output);
  } catch (error) {
    if (error instanceof AlreadyAnswered) return;
    const isUnavailable = !(error instanceof ModelFailure) && publicError(error).code === "UNAVAILABLE";
    if (isUnavailable && !lastAttempt) throw error;
    await output.status.flush();
    if (!(await apologize(scope, turn, question.history, error as Error))) return;
  } finally {
    await output.tokens.flush();
  }
  output.status.add("listening");
  await output.status.flush();
}

/** Shows an answer to subscribers while it is generated. */
interface Output {
  readonly tokens: TokenStream;
  readonly status: StatusEvents;
}

async function converse(scope: Scope, firstTurn: PreparedTurn, output: Output): Promise<void> {
  let turn = firstTurn;
  let messages: ModelMessage[] = [...turn.messages];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const answer = await ask(scope, turn, messages, output);
    await output.status.flush(); // events are recorded before the answer
    if (answer.calls.length === 0) return finish(scope, turn, answer, output);
    await output.tokens.flush();
    messages.push({ role: "assistant", content: answer.text, calls: answer.calls });
    await checkOpen(turn, scope.of(Chats).row(turn.chat.id));
    await postMessage(scope, turn, {
      role: "ASSISTANT",
      content: answer.text || null,
      toolCalls: answer.calls.map((call) => ({ ...call })),
    });
    const steps = new Steps(scope, turn);
    for (const call of answer.calls) {
      await checkOpen(turn, scope.of(Chats).row(turn.chat.id));
      const text = await steps.handle(call);
      if (text === undefined) return endCall(scope, turn);
      messages.push({ role: "tool", content: text, answers: call });
    }
    const next = steps.next();
    if (next && "ending" in next) return finishWorkflow(scope, turn, next.ending);
    turn = next ? await prepareAfterHandover(scope, next, turn.upTo) : steps.continuedTurn();
    if (next) messages = [...turn.messages];
  }
  throw new Error(`The model called functions in ${MAX_ROUNDS} rounds without an answer.`);
}

/** Requests an answer. Retries after a pause if the model fails; text sent to readers is withdrawn. */
async function ask(
  scope: Scope,
  turn: PreparedTurn,
  messages: readonly ModelMessage[],
  output: Output,
): Promise<Answer> {
  for (let failures = 0; ; failures++) {
    try {
      const signal = AbortSignal.timeout(scope.ports.models.timeoutMs);
      return await stream(scope, turn, askModel(scope, turn, messages, signal), output);
    } catch (error) {
      const pause = RETRY_PAUSES_MS[failures];
      if (pause === undefined || error instanceof AlreadyAnswered || isPermanent(error)) throw error;
      output.tokens.discard();
      await sleep(pauseAfter(error, pause));
    }
  }
}

async function stream(
  scope: Scope,
  turn: PreparedTurn,
  parts: AsyncIterable<ModelPart>,
  output: Output,
): Promise<Answer> {
  let text = "";
  let known: Promise<Conversation> | undefined;
  let finishReason: CutReason | undefined;
  const calls: ModelCall[] = [];
  for await (const part of parts) {
    if (part.type === "call") calls.push({ id: part.id, name: part.name, arguments: part.arguments });
    else if (part.type === "cut") finishReason = part.reason;
    else if (part.type === "withdrawn") {
      text = "";
      output.tokens.discard();
    } else {
      if (text === "") {
        known = checkOpen(turn, conversationOf(scope, turn.chat.id)); // in parallel with the model
        output.tokens.waitFor(known);
        output.status.speaking();
      }
      text += part.text;
      output.tokens.add(part.text);
    }
  }
  if (text.trim() === "" && calls.length === 0) throw new Error("The model returned an empty answer.");
  return { text, calls, finishReason, known: await known?.catch(() => undefined) };
}

async function finish(
  scope: Scope,
  turn: PreparedTurn,
  { text, finishReason, known }: Answer,
  { tokens }: Output,
): Promise<void> {
  await countAnswer(scope, turn);
  const { quickReplies, goodbye } = await answerExtras(scope, turn, text);
  const metadata = {
    ...turn.metadata,
    ...(finishReason && { finishReason }),
    ...(turn.citations.length > 0 && { citations: turn.citations }),
    ...(quickReplies.length > 0 && { quickReplies }),
  };
  const answer = { content: text, metadata, unshown: await tokens.rest() };
  if (goodbye)
    return scope.transaction(async (scope) => {
      await storeAnswer(scope, turn, answer);
      await hangUp(scope, turn);
    });
  await storeAnswer(scope, turn, { ...answer, known });
  const arrival = await turn.position?.afterAnswer();
  if (arrival && "ending" in arrival) await conclude(scope, turn.chat, arrival.ending);
}

async function finishWorkflow(scope: Scope, turn: PreparedTurn, ending: Ending): Promise<void> {
  await scope.transaction(async (scope) => {
    await markAnswered(scope, turn);
    await conclude(scope, turn.chat, ending);
  });
}

async function endCall(scope: Scope, turn: PreparedTurn): Promise<void> {
  await scope.transaction(async (scope) => {
    await markAnswered(scope, turn);
    await hangUp(scope, turn);
  });
}

async function hangUp(scope: Scope, turn: PreparedTurn): Promise<void> {
  const { endCallMessage = "" } = turn.configuration as ChannelConfiguration & { endCallMessage?: string };
  if (endCallMessage !== "") await postMessage(scope, turn, { role: "ASSISTANT", content: endCallMessage });
  await scope.of(Chats).endIfLive(turn.chat.id, "assistant-ended");
}

/** @throws AlreadyAnswered if another worker has answered */
async function storeAnswer(scope: Scope, turn: PreparedTurn, content: AnswerContent): Promise<void> {
  if (!(await storeIfUnanswered(scope, turn, content))) throw new AlreadyAnswered();
}

/** @throws AlreadyAnswered if another worker has answered */
async function markAnswered(scope: Scope, turn: PreparedTurn): Promise<void> {
  const { chat, answered: answeredSequence, upTo } = turn;
  const unanswered = scope.table("chats").where({ id: chat.id, answeredSequence });
  const changed = await unanswered.update({ answeredSequence: upTo });
  if (changed === 0) throw new AlreadyAnswered();
}

/** @throws AlreadyAnswered if the chat, as read, was answered by another worker */
async function checkOpen<C extends ChatRow>(turn: PreparedTurn, reading: Promise<C | undefined>): Promise<C> {
  const chat = await reading;
  if (chat?.answeredSequence !== turn.answered) throw new AlreadyAnswered();
  return chat;
}
