import { currentDate, currentTime } from "../../platform/clock";
import { CHATS_CHANNEL } from "../../events/events/record";
import type { Listener } from "../../platform/database/notifications/listener";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { idInAll } from "../../platform/database/values/ids";
import { Receipts, SMS_CHANNEL, type Receipt } from "./receipts";
import { enqueueSend } from "./send-sms";
import { OutgoingTexts } from "./outgoing-texts";
import { takeMessages } from "./take-messages";
import { Threads } from "./threads";

/** Interval of polling for the answer in case no notification arrives, in ms. */
const POLL_INTERVAL_MS = 1_000;

/** The answer to the provider's request. */
export interface SmsAnswer {
  readonly texts: readonly string[];
  /** Ids of the stored texts that this answer sends; their delivery is recorded later. */
  readonly taken: readonly string[];
  readonly chatId?: string;
}

/** Wakes the requests that wait for an event in a chat. */
export class Waiters {
  /** Maximum number of requests that wait in this process; further answers are sent by the provider's API. Tests lower it. */
  static limit = 200;

  private readonly waiting = new Map<string, Set<() => void>>();

  constructor(listener: Pick<Listener, "on">) {
    const wake = (organizationId: string | undefined, id: string | undefined) =>
      this.waiting.get(idInAll(organizationId!, id!))?.forEach((resume) => resume());
    listener.on(CHATS_CHANNEL, ({ organizationId, chatId, change }) => {
      if (change !== "USER") wake(organizationId, chatId);
    });
    listener.on(SMS_CHANNEL, ({ organizationId, messageSid }) => wake(organizationId, messageSid));
  }

  /** Whether the limit of waiting requests is reached; further requests should not wait. */
  get isFull(): boolean {
    return this.waiting.size >= Waiters.limit;
  }

  /**
   * Resolves at the next event of a chat or text, after a timeout, or when the request is aborted.
   * @param name the id in all organizations
   * @param timeoutMs longest wait
   */
  async next(name: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const waiters = this.waiting.get(name) ?? new Set();
    this.waiting.set(name, waiters);
    await new Promise<void>((resolve) => {
      const resume = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", resume);
        waiters.delete(resume);
        if (waiters.size === 0) this.waiting.delete(name);
        resolve();
      };
      const timer = setTimeout(resume, timeoutMs);
      waiters.add(resume);
      signal.addEventListener("abort", resume, { once: true });
    });
  }
}

/**
 * Waits for the answer to a text for as long as the provider's request allows. The first taker sends the answer: this
 * request, another request with the same text (which gets the same answer), or a job that uses the provider's API.
 * @param signal aborted when the client has disconnected
 */
export async function answerSms(
  scope: Scope,
  receipt: Receipt,
  waiters: Waiters,
  signal: AbortSignal,
): Promise<SmsAnswer> {
  const until = (receipt.waitsUntil?.getTime() ?? 0) - 1_000;
  let known = receipt;
  if (known.answer !== null) return { texts: known.answer, taken: [] };
  while (!signal.aborted) {
    const left = until - currentTime();
    const id = known.outcome === null ? known.messageSid : known.chatId!; // a text that awaits an answer has a chat
    const name = idInAll(scope.organizationId, id);
    const event = waiters.next(name, Math.max(0, Math.min(POLL_INTERVAL_MS, left)), signal);
    if (known.outcome === null) {
      known = (await scope.of(Receipts).of(known.messageSid)) ?? known;
      if (known.answer === null && known.outcome !== null) continue;
    }
    if (known.answer !== null) return { texts: known.answer, taken: [] };
    if (known.chatId !== null && (await hasAnswer(scope, known))) {
      const taken = await take(scope, known);
      if (taken) return taken;
    }
    if (left <= 0) break;
    await event;
  }
  return stopWaiting(scope, known);
}

const ANSWERS_AFTER = statement<{ sequence: number }>(({ table, $, db }) => {
  const rows = table("messages")
    .select("sequence")
    .where({ chatId: $(1), role: $(3) })
    .where("sequence", ">", $(2));
  return db.raw("? limit 1", [rows]);
});

/** Whether an answer may exist; cheap check before the chat is locked. */
async function hasAnswer(scope: Scope, { chatId, sequence }: Receipt): Promise<boolean> {
  const rows = await scope.read(ANSWERS_AFTER, [chatId, sequence, "ASSISTANT"]);
  return rows.length > 0;
}

const take = (scope: Scope, { chatId, sequence, messageSid }: Receipt): Promise<SmsAnswer | undefined> =>
  scope.transaction(async (scope) => {
    await scope.of(Threads).lock(chatId!);
    const receipts = scope.of(Receipts);
    const answered = (await receipts.lock(messageSid))?.answer;
    if (answered) return { texts: answered, taken: [] };
    const rows = await takeMessages(scope, chatId!, "TWIML", sequence ?? 0);
    if (!rows) return undefined;
    const texts = rows.map(({ body }) => body);
    await receipts.setAnswer(messageSid, texts);
    return { texts, taken: rows.map(({ id }) => id), chatId: chatId! };
  });

/** Gives up waiting; the answer will be sent by the provider's API. */
const stopWaiting = (scope: Scope, { chatId, messageSid }: Receipt): Promise<SmsAnswer> =>
  scope.transaction(async (scope) => {
    if (chatId !== null) await scope.of(Threads).lock(chatId);
    const receipts = scope.of(Receipts);
    const answered = (await receipts.lock(messageSid))?.answer;
    if (answered) return { texts: answered, taken: [] };
    await receipts.setAnswer(messageSid, []);
    if (chatId !== null) await enqueueSend(scope, chatId);
    return { texts: [], taken: [] };
  });

/** Records whether the provider received the answer; undelivered texts are sent by its API. */
export async function noteAnswered(
  scope: Scope,
  chatId: string,
  taken: readonly string[],
  delivered: boolean,
): Promise<void> {
  const sent = scope.of(OutgoingTexts);
  if (delivered) return sent.change(taken, { sentAt: currentDate() });
  await scope.transaction(async (scope) => {
    await scope.of(OutgoingTexts).change(taken, { via: "API" });
    await enqueueSend(scope, chatId);
  });
}
