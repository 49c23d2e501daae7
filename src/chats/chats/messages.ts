import type { Channel } from "../../platform/catalog/load-catalog";
import { perId, readPerId } from "../../platform/database/per-id";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { DomainError } from "../../platform/errors";
import { oneAtATime } from "./one-at-a-time";
import { Chats } from "./chats";
import { storeMessage, type Conversation } from "./store-message";
import { tellStored } from "./stored-here";

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
  /** What was read of the chat a moment ago: it need not be read again unless it has changed. */
  readonly known?: Conversation;
  /** Of the assistant: it answers what was said since one place, up to another; unless that was answered meanwhile. */
  readonly answers?: { readonly since: number; readonly upTo: number };
  /** Its end, which those who watch it come have not been shown yet: they are, before they hear that it is whole. */
  readonly unshown?: string;
}

/** Most messages that a turn looks back at. */
const HISTORY_LENGTH = 200;

const LAST = perId<Message, "before">(
  ({ table, narrowed }) =>
    narrowed(table("messages").whereRaw("chat_id = wanted.id")).orderBy("sequence", "desc"),
  {
    conditions: {
      before: (rows, id, { table }) => {
        const border = table("messages").select("sequence").whereRaw("chat_id = wanted.id").where("id", id);
        return rows.where("sequence", "<", border);
      },
    },
  },
);

const HISTORY = statement<Message>(({ table, $, db }) => {
  const rows = table("messages").where("chatId", $(1)).orderBy("sequence", "desc");
  return db.raw(`? limit ${HISTORY_LENGTH}`, [rows]);
});

const AFTER = statement(({ table, $ }) =>
  table("messages").where("chatId", $(1)).where("sequence", ">", $(2)).orderBy("sequence"),
);

/** What was said in the chats of an organization. */
export class Messages {
  constructor(private readonly scope: Scope) {}

  /** Adds a message to a live chat; one of the person is answered in a turn. @throws CHAT_NOT_FOUND, CHAT_ENDED */
  async post(input: NewMessage): Promise<Message> {
    // The statement that stores it looks for the chat in the whole organization.
    if (this.scope.assistantIds) await this.scope.of(Chats).byId(input.aiChatId);
    const message = await this.postIfLive(input);
    if (message) return message;
    await this.scope.of(Chats).byId(input.aiChatId);
    throw new DomainError("CHAT_ENDED", "The chat has ended: it takes no more messages.");
  }

  /** The same; undefined when there is no such live chat, or what it answers was answered. */
  async postIfLive(input: NewMessage): Promise<Message | undefined> {
    const { scope } = this;
    // An open transaction may hold the chat's row: who comes before it would wait for it, and it for them.
    if (scope.inTransaction) return storeMessage(scope, input);
    const name = `${scope.organizationId}/${input.aiChatId}`;
    const message = await oneAtATime(name, () => storeMessage(scope, input));
    if (message) tellStored(message);
    return message;
  }

  /**
   * The last messages of a chat, oldest first; of many chats with the same query by one statement.
   * @param last 1 to 500
   * @param before id of the message that follows them
   */
  async last(chatId: string, last: number, before?: string | null): Promise<Message[]> {
    const loader = this.scope.loader<Message[]>(`messages.${last}.${before}`, (ids) =>
      readPerId(this.scope, LAST, ids, { take: last }, { before }),
    );
    return (await loader.load(chatId)).toReversed();
  }

  /** The last messages of a chat as far as a turn looks back, oldest first. */
  async history(chatId: string): Promise<Message[]> {
    const rows = await this.scope.read(HISTORY, [chatId]);
    return rows.reverse();
  }

  /** The messages behind a place in the chat, oldest first. */
  after(chatId: string, sequence: number): Promise<Message[]> {
    return this.scope.read(AFTER, [chatId, sequence]);
  }

  /** Every message of a chat, oldest first. */
  all(chatId: string): Promise<Message[]> {
    return this.after(chatId, 0);
  }
}
