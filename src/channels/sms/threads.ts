import type { Scope } from "../../platform/database/scope";

/** A chat by SMS, and how far it was sent to the person. */
export interface ThreadRow {
  readonly chatId: string;
  readonly connectionId: string;
  readonly assistantId: string;
  readonly phoneNumber: string;
  /** Place of the last message that somebody took to send it. */
  readonly sentSequence: number;
}

/** The chats that a connected number has with people. */
export class Threads {
  constructor(private readonly scope: Scope) {}

  async of(chatId: string): Promise<ThreadRow | undefined> {
    const [row] = await this.scope.table("sms_threads").where({ chatId });
    return row;
  }

  /** The same, held until the transaction ends: one at a time takes messages of a chat to send them. */
  async hold(chatId: string): Promise<ThreadRow | undefined> {
    const [row] = await this.scope.table("sms_threads").where({ chatId }).forUpdate();
    return row;
  }

  /** The live chats with a person, the newest first. */
  async live(connectionId: string, phoneNumber: string): Promise<ThreadRow[]> {
    const threads = this.scope
      .table("sms_threads")
      .where({ connectionId })
      .where("sms_threads.phoneNumber", phoneNumber)
      .whereNot("chats.status", "ended")
      .select<ThreadRow[]>("sms_threads.chatId", "sms_threads.assistantId", "sms_threads.connectionId")
      .orderBy("chats.lastMessageAt", "desc");
    return await this.scope.join(threads, "chats", "sms_threads.chatId", "chats.id");
  }

  /** Whether an assistant has met a person before. */
  async met({
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
}
