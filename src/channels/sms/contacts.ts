import { currentDate, currentTime } from "../../platform/clock";
import type { Scope } from "../../platform/database/scope";

/** A person's number and one of ours. */
export interface NumberPair {
  readonly ownNumber: string;
  readonly phoneNumber: string;
}

interface ContactRow extends NumberPair {
  readonly optedOutAt: Date | null;
  /** When the last answers were given. */
  readonly answers: readonly string[];
}

/** Answers to one number, in how many milliseconds. */
const MOST_ANSWERS = 10;
const WINDOW = 600_000;

/** A person who texted one of our numbers, held: of two texts of theirs the second waits for the first. */
export class Contact {
  private constructor(
    private readonly scope: Scope,
    private readonly row: ContactRow,
  ) {}

  /** In a transaction, and until it ends. */
  static async hold(scope: Scope, pair: NumberPair): Promise<Contact> {
    const [row] = await scope
      .insert("sms_contacts", { ...pair })
      .onConflict(["organizationId", "ownNumber", "phoneNumber"])
      .merge(["phoneNumber"]);
    return new Contact(scope, row!);
  }

  /** Whether a person wants no texts. */
  static async optedOut(scope: Scope, { ownNumber, phoneNumber }: NumberPair): Promise<boolean> {
    const [row] = await scope.table("sms_contacts").where({ ownNumber, phoneNumber });
    return row?.optedOutAt != null;
  }

  get optedOut(): boolean {
    return this.row.optedOutAt !== null;
  }

  async setOptedOut(optedOut: boolean): Promise<void> {
    const now = currentDate();
    await this.change({ optedOutAt: optedOut ? now : null, updatedAt: now });
  }

  /** Counts an answer that is to be given. @returns false when there were too many: it is not given then */
  async mayAnswer(): Promise<boolean> {
    const now = currentTime();
    const recent = this.row.answers.filter((at) => Date.parse(at) > now - WINDOW);
    if (recent.length >= MOST_ANSWERS) return false;
    const answers = JSON.stringify([...recent, new Date(now)]);
    await this.change({ answers, updatedAt: new Date(now) });
    return true;
  }

  private async change(changes: Readonly<Record<string, unknown>>): Promise<void> {
    const { ownNumber, phoneNumber } = this.row;
    await this.scope.table("sms_contacts").where({ ownNumber, phoneNumber }).update(changes);
  }
}
