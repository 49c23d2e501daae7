import type { Channel } from "../catalog/load-catalog";
import { newId } from "../database/ids";
import type { Scope } from "../database/scope";
import { DomainError } from "../errors";
import { Chats, CHATS_CHANNEL } from "./chats";

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

export interface PostMessageInput {
  readonly aiChatId: string;
  readonly role: MessageRole;
  readonly channel: Channel;
  readonly content?: string | null;
  readonly metadata: Record<string, unknown>;
}

const LABEL_LENGTH = 80;

/** What was said in the chats of an organization. */
export class Messages {
  constructor(private readonly scope: Scope) {}

  /** Adds a message to a live chat. @throws CHAT_NOT_FOUND, CHAT_ENDED */
  async post({ aiChatId, role, channel, content, metadata }: PostMessageInput): Promise<Message> {
    return this.scope.transaction(async (scope) => {
      const sequence = await this.nextSequence(scope, aiChatId, role === "USER" ? content : undefined);
      const row = {
        id: newId(),
        chatId: aiChatId,
        sequence,
        role,
        channel,
        content: content ?? undefined,
        metadata,
      };
      const [message] = (await scope.insert("messages", row)) as Message[];
      await scope.notify(CHATS_CHANNEL, { chatId: aiChatId });
      return message!;
    });
  }

  /** The last messages of a chat, oldest first. @param last 1 to 500 @param before id of the message that follows them */
  async last(chatId: string, last: number, before?: string | null): Promise<Message[]> {
    const rows = this.scope.table("messages").where({ chatId }).orderBy("sequence", "desc").limit(last);
    if (before != null) {
      const border = this.scope.table("messages").select("sequence").where({ chatId, id: before });
      rows.where("sequence", "<", border);
    }
    return ((await rows) as Message[]).reverse();
  }

  /** The messages behind a place in the chat, oldest first. */
  async after(chatId: string, sequence: number): Promise<Message[]> {
    return this.scope
      .table("messages")
      .where({ chatId })
      .where("sequence", ">", sequence)
      .orderBy("sequence");
  }

  /** Every message of a chat, oldest first. */
  all(chatId: string): Promise<Message[]> {
    return this.after(chatId, 0);
  }

  /** Counts the message in its chat, whose row is locked by that: one writer at a time, no gap and no twin. */
  private async nextSequence(scope: Scope, id: string, said: string | null | undefined): Promise<number> {
    const [chat] = (await scope
      .table("chats")
      .where({ id })
      .whereNot({ status: "ended" })
      .increment("messageCount", 1)
      .update({ lastMessageAt: new Date() })
      .returning(["messageCount", "firstWords"])) as { messageCount: number; firstWords: string | null }[];
    if (!chat) {
      await scope.of(Chats).byId(id);
      throw new DomainError("CHAT_ENDED", "The chat has ended: it takes no more messages.");
    }
    const firstWords = said?.trim() && chat.firstWords === null ? firstOf(said) : undefined;
    if (firstWords !== undefined) await scope.table("chats").where({ id }).update({ firstWords });
    return chat.messageCount;
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
