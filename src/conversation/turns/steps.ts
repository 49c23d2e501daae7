import { Messages, type NewMessage } from "../../chats/chats/messages";
import type { Scope } from "../../platform/database/scope";
import { Events } from "../../events/events/events";
import type { JsonObject } from "../../platform/json/json-object";
import type { ModelCall } from "../../platform/ports/text-model";
import type { Arrival, Course, Ending, Performed } from "../workflows/course";
import { speakerAt, type Speaker } from "../workflows/speaker";
import { BUILT_IN, builtInFunctions, callFunction, declaredFunctions } from "../functions/functions";
import type { Prepared } from "./prepare-turn";

interface Done extends Performed {
  /** What the model is told. */
  readonly text: string;
  readonly metadata?: JsonObject;
}

const MOVED_ON: Done = {
  text: "Not called: the conversation had moved on.",
  failed: false,
  metadata: { skipped: true },
};

/** What the model calls in one answer, done one after another and kept in the chat, until something moves the workflow. */
export class Steps {
  private arrival: Arrival | undefined;
  private course: Course | undefined;

  constructor(
    private readonly scope: Scope,
    private readonly turn: Prepared,
  ) {
    this.course = turn.course;
  }

  /** What the model is told of a call; undefined when it ends the conversation. */
  async take(call: ModelCall): Promise<string | undefined> {
    const done: Done | undefined = this.arrival ? MOVED_ON : await this.do(call);
    if (!done) return undefined;
    const { text: content } = done;
    const metadata = { ...done.metadata, ...(done.failed && { failed: true }) };
    const said = { role: "TOOL", content, toolCallId: call.id } as const;
    await say(this.scope, this.turn, { ...said, metadata: { ...this.turn.metadata, ...metadata } });
    return content;
  }

  /** Where the calls have led; undefined where the assistant is to go on as it was. */
  next(): Speaker | { ending: Ending } | undefined {
    return this.arrival && speakerAt(this.arrival);
  }

  /** The turn of an assistant that goes on, with the variables that were set. */
  stayed(): Prepared {
    return this.course ? { ...this.turn, course: this.course } : this.turn;
  }

  private async do(call: ModelCall): Promise<Done | undefined> {
    const transition = this.course?.transitions.find(({ tool }) => tool.name === call.name);
    if (transition) {
      this.arrival = await this.course!.choose(transition, call); // it has the transition
      return { text: "The conversation goes on from there.", failed: false, metadata: { transition: true } };
    }
    const done = await perform(this.scope, this.turn, call);
    const after = done && (await this.course?.afterFunction(call.name, done));
    if (after && "stays" in after) this.course = after.stays;
    else if (after) this.arrival = after;
    return done;
  }
}

/** What a call of the model comes to; undefined when it ends the conversation. */
async function perform(
  scope: Scope,
  { chat, configuration, search, remember, request }: Prepared,
  call: ModelCall,
): Promise<Done | undefined> {
  const isNamed = ({ name }: { readonly name: string }) => name === call.name;
  const builtIn = builtInFunctions(configuration).find(isNamed);
  await scope.transaction((scope) =>
    scope.of(Events).functionCalled(chat, call.name, asObject(call.arguments)),
  );
  if (builtIn?.name === BUILT_IN.endCall) return undefined;
  const own = async (text: Promise<string> | string) => ({ text: await text, failed: false });
  if (search && call.name === search.tool.name) return own(search.run(textIn(call, "query")));
  if (remember && call.name === remember.tool.name) return own(remember.run(textIn(call, "fact")));
  if (builtIn) return own("The keys were pressed.");
  const declared = (await declaredFunctions(scope, configuration)).find(isNamed);
  if (!declared) return { text: `There is no function ${call.name}.`, failed: true };
  const { parameters } = request.tools.find(isNamed) ?? declared; // what was offered is what is checked
  const { text, failed } = await callFunction(scope, { ...declared, parameters }, call.id, call.arguments);
  // The contract: voice uses a function's reply only where RAG is on.
  const told = chat.channel === "VOICE" && !configuration.isRagEnabled ? "The function was called." : text;
  return { text: told, failed, reply: text };
}

export interface Said {
  readonly role: "ASSISTANT" | "TOOL";
  readonly content: string | null;
  readonly metadata?: JsonObject;
  readonly toolCalls?: JsonObject[];
  readonly toolCallId?: string;
  readonly answers?: NewMessage["answers"];
  readonly known?: NewMessage["known"] | undefined;
  readonly unshown?: string;
}

/** Adds to the chat. @returns whether it was added: one that was ended meanwhile takes nothing more */
export async function say(
  scope: Scope,
  { chat, metadata }: Pick<Prepared, "chat" | "metadata">,
  { known, ...said }: Said,
): Promise<boolean> {
  const message = { metadata, ...said, ...(known && { known }), aiChatId: chat.id, channel: chat.channel };
  return (await scope.of(Messages).postIfLive(message)) !== undefined;
}

export const asObject = (value: unknown): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

function textIn({ arguments: args }: ModelCall, name: string): string {
  const value = asObject(args)[name];
  return typeof value === "string" ? value : "";
}
