import type { Channel } from "../catalog/load-catalog";
import { newId } from "../database/ids";
import { perId } from "../database/per-id";
import type { Build, Scope } from "../database/scope";
import { DomainError } from "../errors";
import { Events } from "../events/events";
import { oneAtATime } from "./one-at-a-time";
import { Chats, CHATS_CHANNEL, type ChatRow } from "./chats";

export type MessageRole = "ASSISTANT" | "TOOL" | "USER" | "SYSTEM";

export interface Message {
  readonly id: string;
  readonly chatId: string;
  /** From 1, without a gap, in the order in which they were stored. */
  readonly sequence: number;
  readonly role: MessageRole;
  readonly channel: Channel;
  readonly content: string | null;
  readonly metadata: Record<string, unknown>;
  readonly toolCallId: string | null;
  readonly toolCalls: Record<string, unknown>[] | null;
  readonly createdAt: Date;
}

/** A message as it is stored. */
export interface MessageRow extends Message {
  /** The page's own id of it. */
  readonly clientId: string | null;
}

export interface PostMessageInput {
  readonly aiChatId: string;
  readonly role: MessageRole;
  readonly channel: Channel;
  readonly content?: string | null;
  readonly metadata: Record<string, unknown>;
}

/** A message as the service itself writes it. */
export interface NewMessage extends PostMessageInput {
  readonly toolCalls?: Record<string, unknown>[];
  readonly toolCallId?: string;
  /** A voice engine asks for the answer itself: no turn is taken for it here. */
  readonly spoken?: boolean;
  /** Of a person: no turn is taken for it. */
  readonly unanswered?: boolean;
  /** A page's own id of it; in a chat there is one message of each. */
  readonly clientId?: string;
}

const LABEL_LENGTH = 80;

/** What was said in the chats of an organization. */
export class Messages {
  constructor(private readonly scope: Scope) {}

  /** Adds a message to a live chat; one of the person is answered in a turn. @throws CHAT_NOT_FOUND, CHAT_ENDED */
  async post(input: NewMessage): Promise<Message> {
    const message = await this.postIfLive(input);
    if (message) return message;
    await this.scope.of(Chats).byId(input.aiChatId);
    throw new DomainError("CHAT_ENDED", "The chat has ended: it takes no more messages.");
  }

  /** The same; undefined when there is no such live chat. */
  postIfLive(input: NewMessage): Promise<Message | undefined> {
    // An open transaction may hold the chat's row: who comes before it would wait for it, and it for them.
    return this.scope.inTransaction
      ? this.store(input)
      : oneAtATime(`${this.scope.organizationId}/${input.aiChatId}`, () => this.store(input));
  }

  private store(input: NewMessage): Promise<Message | undefined> {
    const { aiChatId: chatId, role, content } = input;
    return this.scope.transaction(async (scope) => {
      const chat = await this.counted(scope, chatId, role === "USER" ? content : undefined);
      if (!chat) return undefined;
      const { channel, metadata, toolCalls, toolCallId, clientId } = input;
      const row = {
        id: newId(),
        chatId,
        assistantId: chat.assistantId,
        sequence: chat.messageCount,
        role,
        channel,
        content: content ?? undefined,
      };
      const [message] = (await scope.insert("messages", {
        ...row,
        metadata,
        toolCalls,
        toolCallId,
        clientId,
      })) as Message[];
      await scope.notify(CHATS_CHANNEL, { chatId });
      await scope.of(Events).conversationUpdated(chat);
      if (role === "USER" && !input.spoken && !input.unanswered)
        await scope.enqueue("chat.turn", { chatId }, { queue: `chat:${chatId}` });
      if (role === "ASSISTANT" && chat.channel === "SMS" && chat.phoneNumber !== null)
        await scope.enqueue("sms.send", { chatId }, { queue: `sms:${chatId}`, key: `sms.send:${chatId}` });
      return message;
    });
  }

  /**
   * The last messages of a chat, oldest first; of many chats with the same query by one statement.
   * @param last 1 to 500
   * @param before id of the message that follows them
   */
  async last(chatId: string, last: number, before?: string | null): Promise<Message[]> {
    const rows: Build = (table, $) => {
      const own = table("messages").whereRaw("chat_id = wanted.id").orderBy("sequence", "desc");
      const border = table("messages").select("sequence").whereRaw("chat_id = wanted.id");
      return before == null ? own : own.where("sequence", "<", border.where("id", $(1)));
    };
    const [key, values] = before == null ? ["messages.last", []] : ["messages.before", [before]];
    const loader = this.scope.loader<Message[]>(`${key}.${last}.${before}`, (ids) =>
      perId(this.scope, key, ids, rows, values, { take: last }),
    );
    return (await loader.load(chatId)).toReversed();
  }

  /** The messages behind a place in the chat, oldest first. */
  async after(chatId: string, sequence: number): Promise<Message[]> {
    const rows = this.scope.table("messages").where({ chatId }).where("sequence", ">", sequence);
    return (await rows.orderBy("sequence")) as Message[];
  }

  /** Every message of a chat, oldest first. */
  all(chatId: string): Promise<Message[]> {
    return this.after(chatId, 0);
  }

  /** Counts the message in its chat, whose row is locked by that: one writer at a time, no gap and no twin. */
  private async counted(
    scope: Scope,
    id: string,
    said: string | null | undefined,
  ): Promise<ChatRow | undefined> {
    const [chat] = (await scope
      .table("chats")
      .where({ id })
      .whereNot({ status: "ended" })
      .increment("messageCount", 1)
      .update({ lastMessageAt: new Date() })
      .returning("*")) as ChatRow[];
    const firstWords = chat?.firstWords === null && said?.trim() ? firstOf(said) : undefined;
    if (firstWords !== undefined) await scope.table("chats").where({ id }).update({ firstWords });
    return chat;
  }
}

/** The beginning of a text, cut between words where possible and never inside a character. */
function firstOf(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  const letters = Array.from(line.slice(0, LABEL_LENGTH * 2));
  if (letters.length <= LABEL_LENGTH && line.length <= LABEL_LENGTH * 2) return line;
  const cut = letters.slice(0, LABEL_LENGTH).join("");
  return `${cut.slice(0, cut.lastIndexOf(" ") > LABEL_LENGTH / 2 ? cut.lastIndexOf(" ") : undefined)}…`;
}
