import { currentDate } from "../clock";
import type { Scope } from "../database/scope";

/** A text that goes out. */
export interface SentRow {
  readonly id: string;
  readonly chatId: string;
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
    return (await rows.orderBy("id")) as SentRow[];
  }

  /** The provider's ids of the last texts of a chat. */
  async sids(chatId: string): Promise<string[]> {
    const rows = this.scope.table("sms_sent").select("messageSid").where({ chatId });
    const last = (await rows.whereNotNull("messageSid").orderBy("id", "desc").limit(100)) as {
      messageSid: string;
    }[];
    return last.map(({ messageSid }) => messageSid);
  }

  /** Notes, before the provider is asked, that it is. @returns false when somebody else did meanwhile */
  async claim({ id, attempts }: SentRow): Promise<boolean> {
    const changes = { via: "API", attempts: attempts + 1, askedAt: currentDate() };
    const claimed = this.scope.table("sms_sent").where({ id, attempts }).whereNull("sentAt");
    return (await claimed.update(changes)) > 0;
  }

  async change(
    ids: readonly string[],
    changes: Partial<Pick<SentRow, "sentAt" | "askedAt" | "messageSid" | "problem" | "via">>,
  ): Promise<void> {
    await this.scope.table("sms_sent").whereIn("id", ids).update(changes);
  }
}
