import type { Scope } from "../../platform/database/scope";
import { RequestNotSent } from "../../platform/outbound/deadline";

/** An outgoing text. */
export interface OutgoingTextRow {
  readonly id: string;
  /** Null for a notice outside any chat, which names the connection and the person itself. */
  readonly chatId: string | null;
  readonly connectionId: string | null;
  readonly phoneNumber: string | null;
  /** TWIML: in the answer to the provider's request; API: by the provider's API. */
  readonly via: "TWIML" | "API";
  readonly body: string;
  /** Number of attempts, and the time of the last one. */
  readonly attempts: number;
  readonly askedAt: Date | null;
  readonly sentAt: Date | null;
  /** The provider's id of the text. */
  readonly messageSid: string | null;
  readonly problem: string | null;
  readonly createdAt: Date;
}

/** The outgoing texts of an organization. */
export class OutgoingTexts {
  constructor(private readonly scope: Scope) {}

  /** Texts of a chat with an unknown outcome, in order. */
  async open(chatId: string): Promise<OutgoingTextRow[]> {
    const rows = this.scope.table("sms_sent").where({ chatId }).whereNull("sentAt").whereNull("problem");
    return await rows.orderBy("id");
  }

  /** A notice outside any chat, if its outcome is unknown. */
  async openNotice(id: string): Promise<OutgoingTextRow | undefined> {
    const rows = this.scope.table("sms_sent").where({ id }).whereNull("sentAt").whereNull("problem");
    return (await rows)[0];
  }

  /** The provider's ids of the last 100 texts of the same chat, or, for notices, to the same person. */
  async sids({ chatId, phoneNumber }: OutgoingTextRow): Promise<string[]> {
    const all = this.scope.table("sms_sent").select("messageSid");
    const rows = chatId === null ? all.where({ phoneNumber }).whereNull("chatId") : all.where({ chatId });
    const last = await rows.whereNotNull("messageSid").orderBy("id", "desc").limit(100);
    return last.map(({ messageSid }) => messageSid!);
  }

  /** Records the attempt before calling the provider. @returns false if another process already did */
  async claim({ id, attempts }: OutgoingTextRow): Promise<boolean> {
    const claimed = this.scope.table("sms_sent").where({ id, attempts }).whereNull("sentAt");
    return (await claimed.update({ via: "API", attempts: attempts + 1, askedAt: this.scope.now() })) > 0;
  }

  /**
   * Checks the claim right before the provider is called: if this server stalled, another one may have taken it over.
   * @throws RequestNotSent if so
   */
  async checkClaim({ id, attempts }: OutgoingTextRow, timeout: number): Promise<void> {
    const claimed = this.scope
      .table("sms_sent")
      .where({ id, attempts: attempts + 1 })
      .whereNull("sentAt");
    const mine = claimed.where("askedAt", ">", this.scope.now(-timeout)).select("id");
    if ((await mine).length === 0) throw new RequestNotSent("The SMS was not sent: its claim had ended.");
  }

  /**
   * Undoes the record of an attempt that never called the provider, unless another process has claimed the text
   * since.
   */
  async releaseClaim({ id, attempts, askedAt }: OutgoingTextRow): Promise<void> {
    const claimed = this.scope
      .table("sms_sent")
      .where({ id, attempts: attempts + 1 })
      .whereNull("sentAt");
    await claimed.update({ attempts, askedAt });
  }

  async change(
    ids: readonly string[],
    changes: Partial<Pick<OutgoingTextRow, "sentAt" | "askedAt" | "messageSid" | "problem" | "via">>,
  ): Promise<void> {
    await this.scope.table("sms_sent").whereIn("id", ids).update(changes);
  }
}
