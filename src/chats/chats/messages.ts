import type { Channel } from "../../platform/catalog/load-catalog";
import { perId, readPerId } from "../../platform/database/lists/per-id";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { DomainError, invalid, quoted } from "../../platform/errors";
import { runInOrder } from "../../platform/run-in-order";
import { sequenceUpTo } from "./chat-positions";
import { Chats } from "./chats";
import { storeMessage, type Conversation } from "./store-message";
import { notifyStored } from "./local-messages";

export type MessageRole = "ASSISTANT" | "TOOL" | "USER" | "SYSTEM";

export interface Message {
  readonly id: string;
  readonly chatId: string;
  /** Position in the chat: from 1, without gaps, in the order of storing. */
  readonly sequence: number;
  readonly role: MessageRole;
  readonly channel: Channel;
  readonly content: string | null;
  readonly metadata: Record<string, unknown>;
  readonly toolCallId: string | null;
  readonly toolCalls: Record<string, unknown>[] | null;
  readonly createdAt: Date;
}

/** A stored message. */
export interface MessageRow extends Message {
  /** Id that the web page has chosen. */
  readonly clientId: string | null;
  /** Sequence of the last message that this one answers. */
  readonly answersUpTo: number | null;
}

export interface PostMessageInput {
  readonly aiChatId: string;
  readonly role: MessageRole;
  readonly channel: Channel;
  readonly content?: string | null;
  readonly metadata: Record<string, unknown>;
}

/** A message with the options of internal callers. */
export interface NewMessage extends PostMessageInput {
  /** Default: a new one. */
  readonly id?: string;
  readonly toolCalls?: Record<string, unknown>[];
  readonly toolCallId?: string;
  /** A voice engine requests the answer, so no turn is enqueued. */
  readonly spoken?: boolean;
  /** A message of a person that needs no answer, so no turn is enqueued. */
  readonly unanswered?: boolean;
  /** Id that the web page has chosen; unique in the chat. */
  readonly clientId?: string;
  /** The conversation as just read: saves a read unless it has changed in the meantime. */
  readonly known?: Conversation;
  /** Sequences of the messages that this one answers. It is not stored if they were answered in the meantime. */
  readonly answers?: { readonly since: number; readonly upTo: number };
  /** The part not yet streamed: subscribers get it before the message is announced as complete. */
  readonly unshown?: string;
}

/** SQLSTATE of a unique violation: another attempt has stored the same message. */
const UNIQUE_VIOLATION = "23505";

/** Maximum number of messages of a chat that a turn reads. */
const HISTORY_LENGTH = 200;

const LAST = perId(
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

/** The first message, if it is a greeting. */
const GREETING = perId(({ table, narrowed }) =>
  narrowed(
    table("messages")
      .whereRaw("chat_id = wanted.id and sequence = 1")
      .whereRaw("role = 'ASSISTANT' and metadata -> 'greeting' = 'true'"),
  ),
);

const HISTORY = statement<Message>(({ table, $, db }) => {
  const rows = table("messages").where("chatId", $(1)).orderBy("sequence", "desc");
  return db.raw(`? limit ${HISTORY_LENGTH}`, [rows]);
});

const AFTER = statement(({ table, $ }) =>
  table("messages").where("chatId", $(1)).where("sequence", ">", $(2)).orderBy("sequence"),
);

const ALL_OF_CHATS = statement<Message>(({ table, $, db }) =>
  table("messages")
    .where("chatId", db.raw("any(?::text[])", [$(1)]))
    .orderBy(["chatId", "sequence"]),
);

/** The messages of an organization's chats. */
export class Messages {
  constructor(private readonly scope: Scope) {}

  /** Adds a message to a live chat. A message of the person enqueues a turn. @throws CHAT_NOT_FOUND, CHAT_ENDED */
  async post(input: NewMessage): Promise<Message> {
    // The statement that stores the message does not check whether the key can access the assistant.
    if (this.scope.assistantIds) await this.scope.of(Chats).byId(input.aiChatId);
    const message = await this.postIfLive(input);
    if (message) return message;
    await this.scope.of(Chats).byId(input.aiChatId);
    throw new DomainError("CHAT_ENDED", "The chat has ended and accepts no more messages. Start a new one.");
  }

  /** Adds a message with this id, or returns the one that an earlier attempt has stored. @throws as `post` */
  async postOnce(id: string, input: NewMessage): Promise<Message> {
    const find = async () => (await this.scope.table("messages").where({ id, chatId: input.aiChatId }))[0];
    const stored = await find();
    if (stored) return stored;
    return this.post({ ...input, id }).catch(async (error: unknown) => {
      const meanwhile = (error as { code?: unknown }).code === UNIQUE_VIOLATION && (await find());
      if (meanwhile) return meanwhile;
      throw error;
    });
  }

  /** Adds a message. @returns undefined if the chat does not exist, has ended, or its question was already answered */
  async postIfLive(input: NewMessage): Promise<Message | undefined> {
    const { scope } = this;
    // A transaction may have locked the chat's row: queueing behind a writer that waits for the row would deadlock.
    if (scope.inTransaction) return storeMessage(scope, input);
    const name = `${scope.organizationId}/${input.aiChatId}`;
    const message = await runInOrder(name, () => storeMessage(scope, input));
    if (message) notifyStored(scope, message);
    return message;
  }

  /**
   * The last messages of a chat, oldest first. Calls in the same tick with equal arguments share one statement.
   * @param last 1 to 500
   * @param before id of a message: only earlier ones
   * @throws BAD_USER_INPUT if the chat has never had the message `before`
   */
  async last(chatId: string, last: number, before?: string | null): Promise<Message[]> {
    const loader = this.scope.loader<Message[]>(`messages.${last}.${before}`, (ids) =>
      readPerId(this.scope, LAST, ids, { take: last }, { before }),
    );
    const found = await loader.load(chatId);
    const newestFirst =
      found.length === 0 && before != null ? await this.beforeAbsent(chatId, last, before) : found;
    return newestFirst.toReversed();
  }

  /** The messages before one that may have been removed, newest first. @throws BAD_USER_INPUT */
  private async beforeAbsent(chatId: string, last: number, before: string): Promise<Message[]> {
    const messages = this.scope.table("messages").where({ chatId });
    if ((await messages.clone().where({ id: before })).length > 0) return []; // it is the first one
    const sequence = await sequenceUpTo(this.scope, await this.scope.of(Chats).byId(chatId), before);
    if (sequence === undefined)
      throw invalid([
        { path: "before", message: `must be the id of a message of this chat; got ${quoted(before)}` },
      ]);
    return messages.where("sequence", "<=", sequence).orderBy("sequence", "desc").limit(last);
  }

  /** The greeting that opened a chat; null if none did. */
  async greeting(chatId: string): Promise<string | null> {
    const loader = this.scope.loader<MessageRow[]>("messages.greeting", (ids) =>
      readPerId(this.scope, GREETING, ids, { take: 1 }),
    );
    const [first] = await loader.load(chatId);
    return first?.content ?? null;
  }

  /** The last messages of a chat for a turn, oldest first. */
  async history(chatId: string): Promise<Message[]> {
    const rows = await this.scope.read(HISTORY, [chatId]);
    return rows.reverse();
  }

  /** The messages of a chat after a sequence, oldest first. */
  after(chatId: string, sequence: number): Promise<MessageRow[]> {
    return this.scope.read(AFTER, [chatId, sequence]);
  }

  /** Every message of a chat, oldest first. */
  all(chatId: string): Promise<Message[]> {
    return this.after(chatId, 0);
  }

  /** Every message of a chat, oldest first. Calls in the same tick share one statement. */
  shared(chatId: string): Promise<Message[]> {
    const loader = this.scope.loader<Message[]>("messages.all", async (ids) => {
      const groups = new Map<string, Message[]>(ids.map((id) => [id, []]));
      for (const row of await this.scope.read(ALL_OF_CHATS, [ids])) groups.get(row.chatId)!.push(row);
      return ids.map((id) => groups.get(id)!);
    });
    return loader.load(chatId);
  }
}
