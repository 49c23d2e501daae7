import { connectedNumbers } from "../../assistants/telephony/connection-row";
import { currentDate } from "../../platform/clock";
import { MAX_ATTEMPTS } from "../../platform/database/enqueue-job";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import type { ReceivedSms } from "../../platform/ports/telephony";

/** Notification channel that announces processed texts to all servers. */
export const SMS_CHANNEL = "parley_sms";

/** A received text and its outcome. */
export interface Receipt {
  readonly messageSid: string;
  readonly connectionId: string;
  /** The text as received from the provider. */
  readonly sms: ReceivedSms;
  /** Null until the text has been processed. */
  readonly outcome: string | null;
  /** The chat that the text was added to, and its sequence number there. */
  readonly chatId: string | null;
  readonly sequence: number | null;
  /** Texts in the answer to the provider's request; null until decided. */
  readonly answer: readonly string[] | null;
  /** Time at which requests stop waiting for the answer. */
  readonly waitsUntil: Date | null;
}

/** Extra time for requests that arrive late, in ms. */
const MARGIN_MS = 1_000;

const BY_MESSAGE = statement(({ table, $ }) => table("sms_received").where({ messageSid: $(1) }));

const WAITING_BEFORE = statement(({ table, $ }) => {
  const stored = table("sms_received")
    .select("createdAt")
    .where({ messageSid: $(1) });
  return table("sms_received")
    .where({ connectionId: $(2) })
    .whereRaw("sms ->> 'from' = ?", $(3))
    .whereNull("outcome")
    .where("createdAt", "<", stored)
    .orderBy("createdAt");
});

/** The received texts of an organization. */
export class Receipts {
  constructor(private readonly scope: Scope) {}

  async of(messageSid: string): Promise<Receipt | undefined> {
    const [row] = await this.scope.read(BY_MESSAGE, [messageSid]);
    return row;
  }

  /**
   * Stores a text once and enqueues its processing, in one statement.
   * @param waits whether the provider's request waits for the answer
   */
  async accept(connectionId: string, sms: ReceivedSms, waits: boolean): Promise<Receipt> {
    const { messageSid } = sms;
    const { answerTimeoutMs } = this.scope.ports.telephone;
    const waitsUntil = waits ? currentDate(answerTimeoutMs + MARGIN_MS) : null;
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
    const [row] = await this.scope.write(ACCEPT, values);
    if (row) {
      operation?.stored();
      this.scope.wakeWorkers(1);
    }
    if (row) return row;
    const stored = await this.of(messageSid); // by another request
    if (stored && !(await this.removeLeft(stored, connectionId))) return stored;
    return this.accept(connectionId, sms, waits);
  }

  /** Removes a text that a number received before it was disconnected and connected again, as a job will. */
  private async removeLeft({ messageSid, connectionId }: Receipt, current: string): Promise<boolean> {
    if (connectionId === current) return false;
    const left = this.scope.table("sms_received").where({ messageSid, connectionId });
    return (await left.whereNotIn("connectionId", connectedNumbers(this.scope)).delete()) > 0;
  }

  /** Unprocessed earlier texts of the same person, oldest first. */
  before({ messageSid, connectionId, sms }: Receipt): Promise<Receipt[]> {
    return this.scope.read(WAITING_BEFORE, [messageSid, connectionId, sms.from]);
  }

  /** Records the outcome of a text, in the transaction that processed it. */
  async settle(messageSid: string, decision: Partial<Receipt>): Promise<void> {
    const { answer, ...changes } = decision;
    const given = answer ? { answer: this.scope.json(answer) } : {};
    await this.scope
      .table("sms_received")
      .where({ messageSid })
      .update({ ...changes, ...given });
    this.scope.announce(SMS_CHANNEL, { messageSid });
  }

  /** Like `of`, with the row locked until the end of the transaction. */
  async lock(messageSid: string): Promise<Receipt | undefined> {
    const [row] = await this.scope.table("sms_received").where({ messageSid }).forUpdate();
    return row;
  }

  async setAnswer(messageSid: string, answer: readonly string[]): Promise<void> {
    await this.scope
      .table("sms_received")
      .where({ messageSid })
      .update({ answer: this.scope.json(answer) });
  }

  /** The latest time until which a request waits for an answer in this chat; undefined if none waits. */
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

const ACCEPT = statement<Receipt>(({ db, all, home }) =>
  db.raw(`
  with stored as (
    insert into sms_received (organization_id, message_sid, connection_id, sms, waits_until, answer)
    values ($1, $2, $3, $4::jsonb, $5, $6::jsonb) on conflict (organization_id, message_sid) do nothing
    returning ${all("sms_received")}
  ), audit as (
    insert into audit_outbox (organization_id, id, entry)
    select ${home.id}, asked.value ->> 'id', (asked.value ->> 'entry')::jsonb
    from stored, json_array_elements($8::json) as asked ${home.join}
    returning 1
  ), job as (
    select count(parley_enqueue('sms.receive', $7::json, null, null, null, ${MAX_ATTEMPTS})) from stored
  )
  select stored.* from stored, job`),
);
