import { currentDate, currentTime } from "../../platform/clock";
import type { Scope } from "../../platform/database/scope";

/** A person's phone number and the connected number that they texted. */
export interface NumberPair {
  readonly ownNumber: string;
  readonly phoneNumber: string;
}

interface ContactRow extends NumberPair {
  readonly optedOutAt: Date | null;
  /** Times of the latest answers. */
  readonly answers: readonly string[];
}

/** Maximum number of answers to one number per window, and the length of the window in ms. */
const MAX_ANSWERS = 10;
const WINDOW_MS = 600_000;

/**
 * A person who texted a connected number. The row is locked, so that texts of the same person are processed one after
 * another.
 */
export class Contact {
  private constructor(
    private readonly scope: Scope,
    private readonly row: ContactRow,
  ) {}

  /** Locks the person's row until the end of the transaction. */
  static async lock(scope: Scope, pair: NumberPair): Promise<Contact> {
    const [row] = await scope
      .insert("sms_contacts", { ...pair })
      .onConflict(["organizationId", "ownNumber", "phoneNumber"])
      .merge(["phoneNumber"]);
    return new Contact(scope, row!);
  }

  /** Whether a person has opted out of texts. */
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

  /**
   * Counts an answer that is about to be sent. @returns false if the limit is reached and the answer must not be sent
   */
  async mayAnswer(): Promise<boolean> {
    const now = currentTime();
    const recent = this.row.answers.filter((at) => Date.parse(at) > now - WINDOW_MS);
    if (recent.length >= MAX_ANSWERS) return false;
    const answers = JSON.stringify([...recent, new Date(now)]);
    await this.change({ answers, updatedAt: new Date(now) });
    return true;
  }

  private async change(changes: Readonly<Record<string, unknown>>): Promise<void> {
    const { ownNumber, phoneNumber } = this.row;
    await this.scope.table("sms_contacts").where({ ownNumber, phoneNumber }).update(changes);
  }
}
