import type { Scope } from "../../platform/database/scope";
import { NotSent } from "../../platform/outbound/deadline";

/** A text that goes out. */
export interface SentRow {
  readonly id: string;
  /** Null for a sentence that belongs to no chat; it names the connection and the person itself. */
  readonly chatId: string | null;
  readonly connectionId: string | null;
  readonly phoneNumber: string | null;
  /** In the answer to the provider's own request, or by its API. */
  readonly via: "TWIML" | "API";
  readonly body: string;
  /** How often the provider was asked, and when last. */
  readonly attempts: number;
  readonly askedAt: Date | null;
  readonly sentAt: Date | null;
  /** The provider's id of it. */
  readonly messageSid: string | null;
  readonly problem: string | null;
  readonly createdAt: Date;
}

/** The texts that go out. */
export class Sent {
  constructor(private readonly scope: Scope) {}

  /** Those of a chat of which it is not known how they went, in their order. */
  async open(chatId: string): Promise<SentRow[]> {
    const rows = this.scope.table("sms_sent").where({ chatId }).whereNull("sentAt").whereNull("problem");
    return await rows.orderBy("id");
  }

  /** A sentence that belongs to no chat, while it is not known how it went. */
  async openSentence(id: string): Promise<SentRow | undefined> {
    const rows = this.scope.table("sms_sent").where({ id }).whereNull("sentAt").whereNull("problem");
    return (await rows)[0];
  }

  /** The provider's ids of the last texts beside this one: of its chat, or those to the same person that belong to none. */
  async sids({ chatId, phoneNumber }: SentRow): Promise<string[]> {
    const all = this.scope.table("sms_sent").select("messageSid");
    const rows = chatId === null ? all.where({ phoneNumber }).whereNull("chatId") : all.where({ chatId });
    const last = await rows.whereNotNull("messageSid").orderBy("id", "desc").limit(100);
    return last.map(({ messageSid }) => messageSid!);
  }

  /** Records the attempt before calling the provider. @returns false if another process already did */
  async claim({ id, attempts }: SentRow): Promise<boolean> {
    const claimed = this.scope.table("sms_sent").where({ id, attempts }).whereNull("sentAt");
    return (await claimed.update({ via: "API", attempts: attempts + 1, askedAt: this.scope.now() })) > 0;
  }

  /** Asked last before the provider is called, as a server that stalled may have been taken for dead. @throws NotSent if it was */
  async notTakenOver({ id, attempts }: SentRow, timeout: number): Promise<void> {
    const claimed = this.scope
      .table("sms_sent")
      .where({ id, attempts: attempts + 1 })
      .whereNull("sentAt");
    const mine = claimed.where("askedAt", ">", this.scope.now(-timeout)).select("id");
    if ((await mine).length === 0) throw new NotSent("The SMS was not sent: its claim had ended.");
  }

  /** Takes back the record of an attempt in which the provider was not called, unless another process claimed it since. */
  async giveBack({ id, attempts, askedAt }: SentRow): Promise<void> {
    const claimed = this.scope
      .table("sms_sent")
      .where({ id, attempts: attempts + 1 })
      .whereNull("sentAt");
    await claimed.update({ attempts, askedAt });
  }

  async change(
    ids: readonly string[],
    changes: Partial<Pick<SentRow, "sentAt" | "askedAt" | "messageSid" | "problem" | "via">>,
  ): Promise<void> {
    await this.scope.table("sms_sent").whereIn("id", ids).update(changes);
  }
}
