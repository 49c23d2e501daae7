import { currentDate } from "../../platform/clock";
import { TRIES, type Build, type Scope } from "../../platform/database/scope";
import type { ReceivedSms } from "../../platform/ports/telephony";

/** The channel on which texts that were dealt with are told to every server process. */
export const SMS_CHANNEL = "parley_sms";

/** What a text that came in led to. */
export interface Receipt {
  readonly messageSid: string;
  readonly connectionId: string;
  /** The text itself. */
  readonly sms: ReceivedSms;
  /** Null until it was dealt with. */
  readonly outcome: string | null;
  /** The chat that it is a message of, and its place there. */
  readonly chatId: string | null;
  readonly sequence: number | null;
  /** What is answered to the request that brought it; null while that is open. */
  readonly answer: readonly string[] | null;
  /** So long requests wait for the answer. */
  readonly waitsUntil: Date | null;
}

/** A request may be later than it says, in milliseconds. */
const MARGIN = 1_000;

/** The texts that came in. */
export class Receipts {
  constructor(private readonly scope: Scope) {}

  async of(messageSid: string): Promise<Receipt | undefined> {
    const [row] = await this.scope.named<Receipt>(
      "sms.received",
      (table, $) => table("sms_received").where({ messageSid: $(1) }),
      [messageSid],
    );
    return row;
  }

  /**
   * Stores a text, and has it dealt with by a job, once, all by one statement.
   * @param waits whether the request that brought it waits for the answer
   */
  async accept(connectionId: string, sms: ReceivedSms, waits: boolean): Promise<Receipt> {
    const { messageSid } = sms;
    const { answerTimeoutMs } = this.scope.ports.telephone;
    const waitsUntil = waits ? currentDate(answerTimeoutMs + MARGIN) : null;
    const job = JSON.stringify(this.scope.owned({ messageSid }));
    const { operation } = this.scope;
    const audit = JSON.stringify(operation?.entry ? [operation.entry] : []);
    const values = [
      messageSid,
      connectionId,
      JSON.stringify(sms),
      waitsUntil,
      waits ? null : "[]",
      job,
      audit,
    ];
    const [row] = await this.scope.write<Receipt>("sms.accept", accepting, values);
    if (row) operation?.stored();
    return row ?? (await this.of(messageSid))!; // somebody stored it before
  }

  /** The texts of the same person that came before one and still wait to be dealt with, the oldest first. */
  before({ messageSid, connectionId, sms }: Receipt): Promise<Receipt[]> {
    return this.scope.named<Receipt>(
      "sms.before",
      (table, $) => {
        const stored = table("sms_received")
          .select("createdAt")
          .where({ messageSid: $(1) });
        return table("sms_received")
          .where({ connectionId: $(2) })
          .whereRaw("sms ->> 'from' = ?", $(3))
          .whereNull("outcome")
          .where("createdAt", "<", stored)
          .orderBy("createdAt");
      },
      [messageSid, connectionId, sms.from],
    );
  }

  /** Notes what a text led to, in the transaction that did it. */
  async settle(messageSid: string, decision: Partial<Receipt>): Promise<void> {
    const { answer, ...changes } = decision;
    const given = answer ? { answer: this.scope.json(answer) } : {};
    await this.scope
      .table("sms_received")
      .where({ messageSid })
      .update({ ...changes, ...given });
    await this.scope.notify(SMS_CHANNEL, { messageSid });
  }

  /** The same as `of`, held until the transaction ends. */
  async hold(messageSid: string): Promise<Receipt | undefined> {
    const [row] = await this.scope.table("sms_received").where({ messageSid }).forUpdate();
    return row;
  }

  async setAnswer(messageSid: string, answer: readonly string[]): Promise<void> {
    await this.scope
      .table("sms_received")
      .where({ messageSid })
      .update({ answer: this.scope.json(answer) });
  }

  /** Until when a request waits for what is said in a chat; undefined when none does. */
  async waitingUntil(chatId: string): Promise<Date | undefined> {
    const open = this.scope
      .table("sms_received")
      .where({ chatId })
      .whereNull("answer")
      .where("waitsUntil", ">", currentDate());
    const [last] = await open.orderBy("waitsUntil", "desc").limit(1);
    return last?.waitsUntil ?? undefined;
  }
}

const accepting: Build = (_table, _$, db, all) =>
  db.raw(`
  with stored as (
    insert into sms_received (organization_id, message_sid, connection_id, sms, waits_until, answer)
    values ($1, $2, $3, $4::jsonb, $5, $6::jsonb) on conflict (organization_id, message_sid) do nothing
    returning ${all("sms_received")}
  ), audit as (
    insert into audit_outbox (organization_id, id, entry)
    select $1, asked.id, asked.entry from stored, json_to_recordset($8::json) as asked(id text, entry jsonb)
  )
  select stored.* from stored
  cross join lateral (select parley_enqueue('sms.receive', $7::json, null, null, null, ${TRIES})) as job`);
