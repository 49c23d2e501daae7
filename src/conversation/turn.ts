import { setTimeout as sleep } from "node:timers/promises";
import { Chats, type ChatRow } from "../chats/chats";
import { Messages } from "../chats/messages";
import type { ChannelConfiguration, JsonObject } from "../configurations/configurations";
import type { Scope } from "../database/scope";
import { Events } from "../events/events";
import type { ModelCall, ModelMessage, ModelRequest } from "../ports/text-model";
import { BUILT_IN, callFunction, declaredFunctions } from "./functions";
import { prepareTurn, type Prepared } from "./prepare-turn";
import { afterAnswer } from "./after-answer";
import { Tokens } from "./tokens";

/** Rounds of functions and answers in one turn. */
const MOST_ROUNDS = 10;
/** Pauses before a failing model is asked again, in milliseconds. */
const RETRIES = [500, 2_000];
/** How long one answer of a model may take, in milliseconds. */
const PATIENCE = 120_000;
const APOLOGY = "I'm sorry, I can't answer right now. Please try again in a moment.";

interface Answer {
  readonly text: string;
  readonly calls: readonly ModelCall[];
}

/**
 * Answers what was said in a chat since the last answer. Run as a job, one at a time for a chat: a message that
 * arrives meanwhile has a turn of its own, which sees both. Nothing is open in the database while a model or a
 * function is asked.
 */
export async function takeTurn(scope: Scope, chatId: string): Promise<void> {
  const turn = await prepareTurn(scope, chatId);
  if (!turn) return;
  const tokens = new Tokens(scope, chatId);
  await note(scope, turn, "thinking");
  try {
    await converse(scope, turn, tokens);
  } catch (error) {
    await apologize(scope, turn, error as Error);
  } finally {
    await tokens.flush();
    await note(scope, turn, "listening");
  }
}

async function converse(scope: Scope, turn: Prepared, tokens: Tokens): Promise<void> {
  const messages: ModelMessage[] = [...turn.messages];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const answer = await ask(scope, turn, messages, tokens);
    if (answer.calls.length === 0) return finish(scope, turn, answer.text);
    messages.push({ role: "assistant", content: answer.text, calls: answer.calls });
    await say(scope, turn, {
      role: "ASSISTANT",
      content: answer.text || null,
      toolCalls: answer.calls.map((call) => ({ ...call })),
    });
    for (const call of answer.calls) {
      const text = await perform(scope, turn, call);
      if (text === undefined) return endCall(scope, turn);
      messages.push({ role: "tool", content: text, answers: call });
      await say(scope, turn, { role: "TOOL", content: text, toolCallId: call.id });
    }
  }
  throw new Error(`The model called functions in ${MOST_ROUNDS} rounds without an answer.`);
}

/** Asks the model, and once more after a pause when it fails before anything of its answer was shown. */
async function ask(
  scope: Scope,
  turn: Prepared,
  messages: readonly ModelMessage[],
  tokens: Tokens,
): Promise<Answer> {
  for (let failures = 0; ; failures++) {
    try {
      return await listen(
        scope,
        turn,
        { ...turn.request, messages, signal: AbortSignal.timeout(PATIENCE) },
        tokens,
      );
    } catch (error) {
      const pause = RETRIES[failures];
      if (pause === undefined) throw error;
      tokens.discard();
      await sleep(pause);
    }
  }
}

async function listen(scope: Scope, turn: Prepared, request: ModelRequest, tokens: Tokens): Promise<Answer> {
  const { local, remote } = scope.ports.models;
  let text = "";
  const calls: ModelCall[] = [];
  for await (const part of (request.credential ? remote : local).stream(request)) {
    if (part.type === "call") calls.push({ id: part.id, name: part.name, arguments: part.arguments });
    else {
      if (text === "") await note(scope, turn, "speaking");
      text += part.text;
      tokens.add(part.text);
    }
  }
  if (text.trim() === "" && calls.length === 0) throw new Error("The model answered with nothing.");
  return { text, calls };
}

/** What a call of the model comes to; undefined when it ends the conversation. */
async function perform(
  scope: Scope,
  { chat, configuration, search, remember }: Prepared,
  call: ModelCall,
): Promise<string | undefined> {
  if (call.name === BUILT_IN.endCall) return undefined;
  await scope.transaction((scope) =>
    scope.of(Events).functionCalled(chat, call.name, asObject(call.arguments)),
  );
  if (search && call.name === search.tool.name) return search.run(textIn(call, "query"));
  if (remember && call.name === remember.tool.name) return remember.run(textIn(call, "fact"));
  if (call.name === BUILT_IN.dialKeypad) return "The keys were pressed.";
  const declared = declaredFunctions(configuration).find(({ name }) => name === call.name);
  if (!declared) return `There is no function ${call.name}.`;
  const { text } = await callFunction(scope.ports.outbound, declared, call.id, call.arguments);
  // The contract: voice uses a function's reply only where RAG is on.
  return chat.channel === "VOICE" && !configuration.isRagEnabled ? "The function was called." : text;
}

async function finish(scope: Scope, turn: Prepared, text: string): Promise<void> {
  const { quickReplies, goodbye } = await afterAnswer(scope, turn, text);
  const metadata = {
    ...turn.metadata,
    ...(turn.citations.length > 0 && { citations: turn.citations }),
    ...(quickReplies.length > 0 && { quickReplies }),
  };
  await answered(scope, turn, text, metadata);
  if (goodbye) await endCall(scope, turn);
}

async function endCall(scope: Scope, turn: Prepared): Promise<void> {
  const { endCallMessage = "" } = turn.configuration as ChannelConfiguration & { endCallMessage?: string };
  if (endCallMessage !== "") await say(scope, turn, { role: "ASSISTANT", content: endCallMessage });
  await scope.transaction(async (scope) => {
    await markAnswered(scope, turn);
    await scope.of(Chats).endIfLive(turn.chat.id, "assistant-ended");
  });
}

/** The chat is told in a sentence, the log in full. */
async function apologize(scope: Scope, turn: Prepared, error: Error): Promise<void> {
  await scope.transaction(async (scope) => {
    const entry = { at: new Date(), message: error.message.slice(0, 500) };
    await scope
      .table("chats")
      .where({ id: turn.chat.id })
      .update({ errors: scope.appended("errors", entry) });
  });
  await answered(scope, turn, APOLOGY, { ...turn.metadata, error: true });
}

/** Stores the answer and that it answers, in one transaction: after a crash the turn is taken again, or it is over. */
async function answered(scope: Scope, turn: Prepared, content: string, metadata: JsonObject): Promise<void> {
  await scope.transaction(async (scope) => {
    await markAnswered(scope, turn);
    await say(scope, turn, { role: "ASSISTANT", content, metadata });
  });
}

const markAnswered = (scope: Scope, { chat, upTo }: Prepared): PromiseLike<unknown> =>
  scope.table("chats").where({ id: chat.id }).update({ answeredSequence: upTo });

interface Said {
  readonly role: "ASSISTANT" | "TOOL";
  readonly content: string | null;
  readonly metadata?: JsonObject;
  readonly toolCalls?: JsonObject[];
  readonly toolCallId?: string;
}

/** Adds to the chat; one that was ended meanwhile takes nothing more. */
async function say(scope: Scope, { chat, metadata }: Prepared, said: Said): Promise<void> {
  const message = { metadata, ...said, aiChatId: chat.id, channel: chat.channel };
  await scope.of(Messages).postIfLive(message);
}

const note = (
  scope: Scope,
  { chat }: { readonly chat: ChatRow },
  status: "thinking" | "speaking" | "listening",
): Promise<void> => scope.transaction((scope) => scope.of(Events).interaction(chat, status));

const asObject = (value: unknown): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

function textIn({ arguments: args }: ModelCall, name: string): string {
  const value = asObject(args)[name];
  return typeof value === "string" ? value : "";
}
