import { setTimeout as sleep } from "node:timers/promises";
import { Chats, type ChatRow } from "../../chats/chats/chats";
import { keepError } from "../../chats/chats/keep-error";
import { Messages } from "../../chats/chats/messages";
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
  type ModelRequest,
} from "../../platform/ports/text-model";
import type { Ending } from "../workflows/course";
import { conclude } from "../workflows/speaker";
import { afterAnswer } from "./after-answer";
import { Notes } from "./notes";
import { openQuestion, prepare, prepareAnew, type Prepared } from "./prepare-turn";
import { say, Steps, type Said } from "./steps";
import { Tokens } from "./tokens";

/** Rounds of functions and answers in one turn. */
export const MOST_ROUNDS = 10;
/** Pauses before a failing model is asked again, in milliseconds. */
export const RETRIES = [500, 2_000];
/** What is said when no answer comes. */
export const APOLOGY = "I'm sorry, I can't answer right now. Please try again in a moment.";

/** The chat has ended, or another worker that took this one for dead has answered: what this one found is worth nothing. */
class Overtaken extends Error {}

interface Answer {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  /** Why it was cut. */
  readonly finishReason: CutReason | undefined;
  /** The chat as it was at the first word. */
  readonly known: Conversation | undefined;
}

/**
 * Answers what was said in a chat since the last answer. Run as a job, one at a time for a chat: a message that
 * arrives meanwhile has a turn of its own, which sees both. Nothing is open in the database while a model or a
 * function is asked.
 * @param lastTry whether nobody will try again what the database's absence interrupts
 */
export async function takeTurn(scope: Scope, chatId: string, lastTry: boolean): Promise<void> {
  const question = await openQuestion(scope, chatId);
  if (!question) return;
  const { chat } = question.speaker;
  let turn: Answering = { chat, answered: chat.answeredSequence, upTo: question.upTo, metadata: {} };
  const shown = { tokens: new Tokens(scope, chatId), notes: new Notes(scope, chat) };
  shown.notes.add("thinking");
  try {
    const prepared = await prepare(scope, question);
    turn = prepared;
    await converse(scope, prepared, shown);
  } catch (error) {
    if (error instanceof Overtaken) return;
    const away = !(error instanceof ModelFailure) && publicError(error).code === "UNAVAILABLE";
    if (away && !lastTry) throw error;
    await shown.notes.written();
    if (!(await apologize(scope, turn, error as Error))) return;
  } finally {
    await shown.tokens.flush();
  }
  shown.notes.add("listening");
  await shown.notes.written();
}

/** What an answer of any kind needs of a turn. */
type Answering = Pick<Prepared, "chat" | "answered" | "upTo" | "metadata">;

/** Where an answer shows while it comes. */
interface Shown {
  readonly tokens: Tokens;
  readonly notes: Notes;
}

async function converse(scope: Scope, begun: Prepared, shown: Shown): Promise<void> {
  let turn = begun;
  let messages: ModelMessage[] = [...turn.messages];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const answer = await ask(scope, turn, messages, shown);
    await shown.notes.written(); // before the answer, as it happened
    if (answer.calls.length === 0) return finish(scope, turn, answer, shown);
    await shown.tokens.flush();
    messages.push({ role: "assistant", content: answer.text, calls: answer.calls });
    await notOvertaken(turn, scope.of(Chats).row(turn.chat.id));
    await say(scope, turn, {
      role: "ASSISTANT",
      content: answer.text || null,
      toolCalls: answer.calls.map((call) => ({ ...call })),
    });
    const steps = new Steps(scope, turn);
    for (const call of answer.calls) {
      await notOvertaken(turn, scope.of(Chats).row(turn.chat.id));
      const text = await steps.take(call);
      if (text === undefined) return endCall(scope, turn);
      messages.push({ role: "tool", content: text, answers: call });
    }
    const next = steps.next();
    if (next && "ending" in next) return finishWorkflow(scope, turn, next.ending);
    turn = next ? await prepareAnew(scope, next, turn.upTo) : steps.stayed();
    if (next) messages = [...turn.messages];
  }
  throw new Error(`The model called functions in ${MOST_ROUNDS} rounds without an answer.`);
}

/** Asks the model, and again after a pause if it fails: what was shown of its answer is withdrawn. */
async function ask(
  scope: Scope,
  turn: Prepared,
  messages: readonly ModelMessage[],
  shown: Shown,
): Promise<Answer> {
  for (let failures = 0; ; failures++) {
    try {
      const signal = AbortSignal.timeout(scope.ports.models.timeoutMs);
      return await listen(scope, turn, { ...turn.request, messages, signal }, shown);
    } catch (error) {
      const pause = RETRIES[failures];
      if (pause === undefined || error instanceof Overtaken || isPermanent(error)) throw error;
      shown.tokens.discard();
      await sleep(pauseAfter(error, pause));
    }
  }
}

async function listen(scope: Scope, turn: Prepared, request: ModelRequest, shown: Shown): Promise<Answer> {
  const { local, remote } = scope.ports.models;
  let text = "";
  let known: Promise<Conversation> | undefined;
  let finishReason: CutReason | undefined;
  const calls: ModelCall[] = [];
  for await (const part of (request.credential ? remote : local).stream(request)) {
    if (part.type === "call") calls.push({ id: part.id, name: part.name, arguments: part.arguments });
    else if (part.type === "cut") finishReason = part.reason;
    else if (part.type === "withdrawn") {
      text = "";
      shown.tokens.discard();
    } else {
      if (text === "") {
        known = notOvertaken(turn, conversationOf(scope, turn.chat.id)); // while the model goes on
        shown.tokens.await(known);
        shown.notes.speaking();
      }
      text += part.text;
      shown.tokens.add(part.text);
    }
  }
  if (text.trim() === "" && calls.length === 0) throw new Error("The model answered with nothing.");
  return { text, calls, finishReason, known: await known?.catch(() => undefined) };
}

async function finish(
  scope: Scope,
  turn: Prepared,
  { text, finishReason, known }: Answer,
  { tokens }: Shown,
): Promise<void> {
  const { quickReplies, goodbye } = await afterAnswer(scope, turn, text);
  const metadata = {
    ...turn.metadata,
    ...(finishReason && { finishReason }),
    ...(turn.citations.length > 0 && { citations: turn.citations }),
    ...(quickReplies.length > 0 && { quickReplies }),
  };
  const said = { content: text, metadata, unshown: await tokens.rest() };
  if (goodbye)
    return scope.transaction(async (scope) => {
      await answered(scope, turn, said);
      await hangUp(scope, turn);
    });
  await answered(scope, turn, { ...said, known });
  const arrival = await turn.course?.afterAnswer();
  if (arrival && "ending" in arrival) await conclude(scope, turn.chat, arrival.ending);
}

async function finishWorkflow(scope: Scope, turn: Prepared, ending: Ending): Promise<void> {
  await scope.transaction(async (scope) => {
    await markAnswered(scope, turn);
    await conclude(scope, turn.chat, ending);
  });
}

async function endCall(scope: Scope, turn: Prepared): Promise<void> {
  await scope.transaction(async (scope) => {
    await markAnswered(scope, turn);
    await hangUp(scope, turn);
  });
}

async function hangUp(scope: Scope, turn: Prepared): Promise<void> {
  const { endCallMessage = "" } = turn.configuration as ChannelConfiguration & { endCallMessage?: string };
  if (endCallMessage !== "") await say(scope, turn, { role: "ASSISTANT", content: endCallMessage });
  await scope.of(Chats).endIfLive(turn.chat.id, "assistant-ended");
}

/** The chat is told in a sentence, the log in full. @returns false when the chat was answered by somebody else */
async function apologize(scope: Scope, turn: Answering, error: Error): Promise<boolean> {
  await keepError(scope, turn.chat.id, error);
  return answer(scope, turn, { content: APOLOGY, metadata: { ...turn.metadata, error: true } });
}

/** Apologizes for what was said and never answered. Reads no more than it must: the rest may be what failed. */
export async function giveUpTurn(scope: Scope, chatId: string): Promise<void> {
  const chat = await scope.of(Chats).row(chatId);
  const history = await scope.of(Messages).history(chatId);
  const upTo = history.findLast(({ role }) => role === "USER")?.sequence ?? 0;
  if (!chat || upTo <= chat.answeredSequence) return;
  const turn: Answering = { chat, answered: chat.answeredSequence, upTo, metadata: {} };
  await apologize(scope, turn, new Error("The turn was given up: all attempts to answer failed."));
}

/** @throws Overtaken when the chat was answered by somebody else */
async function answered(scope: Scope, turn: Prepared, said: Words): Promise<void> {
  if (!(await answer(scope, turn, said))) throw new Overtaken();
}

type Words = Omit<Said, "role" | "answers">;

/** Stores an answer and that it answers, at once: after a crash the turn is taken again, or it is over. */
function answer(scope: Scope, turn: Answering, said: Words): Promise<boolean> {
  const answers = { since: turn.answered, upTo: turn.upTo };
  return say(scope, turn, { role: "ASSISTANT", ...said, answers });
}

/** @throws Overtaken when the chat was answered by somebody else */
async function markAnswered(scope: Scope, turn: Prepared): Promise<void> {
  const { chat, answered: answeredSequence, upTo } = turn;
  const unanswered = scope.table("chats").where({ id: chat.id, answeredSequence });
  const changed = await unanswered.update({ answeredSequence: upTo });
  if (changed === 0) throw new Overtaken();
}

/** @throws Overtaken when the chat, as it is read, was answered by somebody else */
async function notOvertaken<C extends ChatRow>(turn: Prepared, reading: Promise<C | undefined>): Promise<C> {
  const chat = await reading;
  if (chat?.answeredSequence !== turn.answered) throw new Overtaken();
  return chat;
}
