import { connectedNumbers } from "../../assistants/telephony/connection-row";
import type { Scope } from "../../platform/database/scope";

/** An SMS chat and how far its messages have been sent. */
export interface ThreadRow {
  readonly chatId: string;
  readonly connectionId: string;
  readonly assistantId: string;
  readonly phoneNumber: string;
  /** Sequence number of the last message that was claimed for sending. */
  readonly sentSequence: number;
}

/** A live SMS chat, with what it was begun with. */
export interface LiveThread extends Pick<ThreadRow, "chatId" | "assistantId" | "connectionId"> {
  readonly workflowId: string | null;
  readonly deploymentId: string | null;
}

/** The SMS chats of connected numbers. */
export class Threads {
  constructor(private readonly scope: Scope) {}

  async of(chatId: string): Promise<ThreadRow | undefined> {
    const [row] = await this.ofConnected(chatId);
    return row;
  }

  /** Like `of`, with the row locked until the end of the transaction: one caller at a time claims messages. */
  async lock(chatId: string): Promise<ThreadRow | undefined> {
    const [row] = await this.ofConnected(chatId).forUpdate();
    return row;
  }

  /** Live chats with a person, newest first. */
  async live(connectionId: string, phoneNumber: string): Promise<LiveThread[]> {
    const threads = this.scope
      .table("sms_threads")
      .where({ connectionId })
      .where("sms_threads.phoneNumber", phoneNumber)
      .whereNot("chats.status", "ended")
      .select<LiveThread[]>(
        "sms_threads.chatId",
        "sms_threads.assistantId",
        "sms_threads.connectionId",
        "chats.workflowId",
        "chats.deploymentId",
      )
      .orderBy("chats.lastMessageAt", "desc");
    return await this.scope.join(threads, "chats", "sms_threads.chatId", "chats.id");
  }

  /** Whether an assistant has had a chat with a person before. */
  async exists({
    connectionId,
    assistantId,
    phoneNumber,
  }: Omit<ThreadRow, "chatId" | "sentSequence">): Promise<boolean> {
    const before = this.scope
      .table("sms_threads")
      .select("chatId")
      .where({ connectionId, assistantId, phoneNumber });
    return (await before.limit(1)).length > 0;
  }

  async open(thread: Omit<ThreadRow, "sentSequence">): Promise<void> {
    await this.scope.insert("sms_threads", { ...thread });
  }

  async sentUpTo(chatId: string, sentSequence: number): Promise<void> {
    await this.scope.table("sms_threads").where({ chatId }).update({ sentSequence });
  }

  /** The thread of a chat, unless its number is disconnected: a job removes those. */
  private ofConnected(chatId: string) {
    const threads = this.scope.table("sms_threads").where({ chatId });
    return threads.whereIn("connectionId", connectedNumbers(this.scope));
  }
}
