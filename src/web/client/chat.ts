import type { EndChat, FollowChat, PostMessage, StartChatVariables } from "./operations.generated";
import { END_CHAT, FOLLOW_CHAT, POST_MESSAGE } from "./operations.generated";
import { ParleyError } from "./parley-error";
import type { Document, GraphQLOptions } from "./run-operation";
import { linked } from "./signals";
import { pause } from "./send";
import type { SubscribeOptions } from "./subscribe";

export type ChatRecord = NonNullable<EndChat["result"]>;
export type ChatEvent = FollowChat["result"];
export type Message = NonNullable<ChatEvent["message"]>;
export type NewChat = StartChatVariables["input"];

/** A part of an answer that is being generated. */
export type ChatPart =
  /** The next fragment of the answer. */
  | { readonly type: "text"; readonly text: string }
  /** The answer starts over: discard its fragments. */
  | { readonly type: "reset" }
  /** A whole message: the answer, or before it a function call and its result. It replaces the fragments. */
  | { readonly type: "message"; readonly message: Message };

export interface SendMessageOptions extends GraphQLOptions {
  /** Stored with the message. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The parts of a client that a chat uses. */
export interface ChatConnection {
  graphql<Result, Variables>(
    document: Document<Result, Variables>,
    variables: Variables,
    options?: GraphQLOptions,
  ): Promise<Result>;
  subscribe<Result, Variables>(
    document: Document<Result, Variables>,
    variables: Variables,
    options?: SubscribeOptions,
  ): AsyncGenerator<Result, void, void>;
}

/** Time in which the stored answer must follow the response that contains it, in ms. */
const FOLLOWS_WITHIN_MS = 2_000;

/** A conversation in text. */
export class Chat {
  constructor(
    private readonly connection: ChatConnection,
    /** Id of the chat, of its log, and of the header `webhook-chat-id`. */
    readonly id: string,
    /** The first words of the assistant; null if it has none, undefined if the chat was not started by this client. */
    readonly greeting?: string | null,
  ) {}

  /**
   * Sends a message of the person and streams the assistant's answer, which ends with the message that is stored.
   * @throws ParleyError, CHAT_ENDED for example; TIMEOUT if there is no answer within 60 s. The answer may still come:
   * `events` has it.
   */
  async *send(
    content: string,
    { metadata = {}, signal, idempotencyKey }: SendMessageOptions = {},
  ): AsyncGenerator<ChatPart, void, void> {
    const { signal: either, abort: end, release } = linked(signal);
    try {
      const events = await this.opened(either);
      const input = { aiChatId: this.id, role: "USER", channel: "TEXT", content, metadata } as const;
      const posted = this.connection
        .graphql(POST_MESSAGE, { input }, { signal: either, idempotencyKey })
        .then(({ result }) => replyOf(result));
      yield* answer(events, content, posted, either);
    } finally {
      release();
      end();
    }
  }

  /**
   * Streams what happens in the chat, on any channel and from any client, until it ends: from now, after the event with
   * the id `after`, or with "0" from the beginning.
   * @throws ParleyError, CHAT_NOT_FOUND for example
   */
  async *events(
    options: SubscribeOptions & { readonly after?: string } = {},
  ): AsyncGenerator<ChatEvent, void, void> {
    const { after, ...rest } = options;
    const variables = { chatId: this.id, ...(after !== undefined && { after }) };
    for await (const { result } of this.connection.subscribe(FOLLOW_CHAT, variables, rest)) yield result;
  }

  /** Ends the chat. @throws ParleyError */
  async end(options: GraphQLOptions = {}): Promise<ChatRecord> {
    const { result } = await this.connection.graphql(END_CHAT, { id: this.id }, options);
    return result!;
  }

  /** The events from now on: the first fragment must not be missed. */
  private async opened(signal: AbortSignal): Promise<AsyncIterator<ChatEvent, void>> {
    let first: Promise<IteratorResult<ChatEvent, void>> | undefined;
    const events = this.events({ signal, opened: () => open() });
    let open: () => void;
    await new Promise<void>((resolve, reject) => {
      open = resolve;
      first = events.next();
      first.then(() => resolve(), reject);
    });
    return {
      next: () => {
        const next = first ?? events.next();
        first = undefined;
        return next;
      },
    };
  }
}

/** The answer to a posted message. @throws ParleyError if there is none in time */
function replyOf(posted: PostMessage["result"]): Message {
  if (posted?.reply) return posted.reply;
  throw new ParleyError("The assistant has not answered within 60 s.", { code: "TIMEOUT" });
}

/** Fragments from the events, and the reply from either. Without events, which may break off, the reply is enough. */
async function* answer(
  events: AsyncIterator<ChatEvent, void>,
  question: string,
  posted: Promise<Message>,
  signal: AbortSignal,
): AsyncGenerator<ChatPart, void, void> {
  let reply: Message | undefined;
  const replied = posted.then((message) => {
    reply = message;
  });
  const late = replied.then(() => pause(FOLLOWS_WITHIN_MS, signal));
  late.catch(() => undefined); // its error is that of `posted`, or the end of the answer
  let isAsked = false; // what comes before the question belongs to an earlier one
  for (;;) {
    const event = await Promise.race([events.next().catch(() => undefined), late]);
    if (!event || event.done) break;
    const { message } = event.value;
    isAsked ||= message?.role === "USER" && message.content === question;
    const part = isAsked ? partOf(event.value) : undefined;
    if (part) yield part;
    // The answer may be stored before the response arrives that says which message it is.
    if (part?.type !== "message" || part.message.role !== "ASSISTANT" || part.message.toolCalls?.length)
      continue;
    await replied;
    if (part.message.id === reply?.id) return;
  }
  yield { type: "message", message: await posted };
}

function partOf({ name, text, message }: ChatEvent): ChatPart | undefined {
  if (name === "token" && text !== null) return { type: "text", text };
  if (name === "token-reset") return { type: "reset" };
  return message && message.role !== "USER" ? { type: "message", message } : undefined;
}
