import { currentDate, currentTime } from "../../platform/clock";
import { CHATS_CHANNEL } from "../../events/events/record";
import type { Listener } from "../../platform/database/listener";
import type { Scope } from "../../platform/database/scope";
import { Receipts, SMS_CHANNEL, type Receipt } from "./receipts";
import { enqueueSend } from "./send-sms";
import { Sent } from "./sent";
import { takeMessages } from "./take-messages";
import { Threads } from "./threads";

/** How often an answer is looked for when no notification comes, in milliseconds. */
const LOOK_AGAIN = 4_000;

/** What is answered to the request that brought a text. */
export interface SmsAnswer {
  readonly texts: readonly string[];
  /** Those of them that are sent by this answer, to tell later whether they were. */
  readonly taken: readonly string[];
  readonly chatId?: string;
}

/** Requests that wait for answers in this process at most; the answers of others are sent by the provider's API. */
const MOST_WAITING = 200;

/** Wakes those who wait for something in a chat. */
export class Bells {
  private readonly waiting = new Map<string, Set<() => void>>();

  constructor(listener: Pick<Listener, "on">) {
    const ring = (id: string | undefined) => this.waiting.get(id!)?.forEach((ring) => ring());
    listener.on(CHATS_CHANNEL, ({ chatId, change }) => void (change !== "USER" && ring(chatId)));
    listener.on(SMS_CHANNEL, ({ messageSid }) => ring(messageSid));
  }

  /** Whether so many wait that nobody else should: what is waited for is then found sooner. */
  get crowded(): boolean {
    return this.waiting.size >= MOST_WAITING;
  }

  /** Resolves when something happened with it, the time is over, or whoever waits has gone. */
  async rung(id: string, patience: number, signal: AbortSignal): Promise<void> {
    const rings = this.waiting.get(id) ?? new Set();
    this.waiting.set(id, rings);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, patience);
      const ring = () => (clearTimeout(timer), rings.delete(ring), resolve());
      rings.add(ring);
      signal.addEventListener("abort", ring, { once: true });
    });
    if (rings.size === 0) this.waiting.delete(id);
  }
}

/**
 * Waits for the answer to a text, as long as the request that brought it may. Whoever takes the answer first sends it:
 * this request, another one that brought the same text and gets the same answer, or a job by the provider's API.
 * @param signal aborted when nobody waits any more
 */
export async function answerSms(
  scope: Scope,
  receipt: Receipt,
  bells: Bells,
  signal: AbortSignal,
): Promise<SmsAnswer> {
  const until = (receipt.waitsUntil?.getTime() ?? 0) - 1_000;
  let known = receipt;
  if (known.answer !== null) return { texts: known.answer, taken: [] };
  while (!signal.aborted) {
    const left = until - currentTime();
    const id = known.outcome === null ? known.messageSid : known.chatId!; // what waits for an answer has a chat
    const rung = bells.rung(id, Math.max(0, Math.min(LOOK_AGAIN, left)), signal);
    if (known.outcome === null) {
      known = (await scope.of(Receipts).of(known.messageSid)) ?? known;
      if (known.answer === null && known.outcome !== null) continue;
    }
    if (known.answer !== null) return { texts: known.answer, taken: [] };
    if (known.chatId !== null && (await isThere(scope, known))) {
      const taken = await take(scope, known);
      if (taken) return taken;
    }
    if (left <= 0) break;
    await rung;
  }
  return giveUp(scope, known);
}

/** Whether it is worth to look closer, which holds the chat. */
async function isThere(scope: Scope, { chatId, sequence }: Receipt): Promise<boolean> {
  const rows = await scope.named<object>(
    "sms.isThere",
    (table, $) =>
      table("messages")
        .select("sequence")
        .where({ chatId: $(1), role: $(3) })
        .where("sequence", ">", $(2)),
    [chatId, sequence, "ASSISTANT"],
    " limit 1",
  );
  return rows.length > 0;
}

const take = (scope: Scope, { chatId, sequence, messageSid }: Receipt): Promise<SmsAnswer | undefined> =>
  scope.transaction(async (scope) => {
    await scope.of(Threads).hold(chatId!);
    const receipts = scope.of(Receipts);
    const given = (await receipts.hold(messageSid))?.answer;
    if (given) return { texts: given, taken: [] };
    const rows = await takeMessages(scope, chatId!, "TWIML", sequence ?? 0);
    if (!rows) return undefined;
    const texts = rows.map(({ body }) => body);
    await receipts.setAnswer(messageSid, texts);
    return { texts, taken: rows.map(({ id }) => id), chatId: chatId! };
  });

/** From now on the answer is sent by the provider's API. */
const giveUp = (scope: Scope, { chatId, messageSid }: Receipt): Promise<SmsAnswer> =>
  scope.transaction(async (scope) => {
    if (chatId !== null) await scope.of(Threads).hold(chatId);
    const receipts = scope.of(Receipts);
    const given = (await receipts.hold(messageSid))?.answer;
    if (given) return { texts: given, taken: [] };
    await receipts.setAnswer(messageSid, []);
    if (chatId !== null) await enqueueSend(scope, chatId);
    return { texts: [], taken: [] };
  });

/** Notes whether the provider got the answer; what it did not get is sent by its API. */
export async function noteAnswered(
  scope: Scope,
  chatId: string,
  taken: readonly string[],
  got: boolean,
): Promise<void> {
  const sent = scope.of(Sent);
  if (got) return sent.change(taken, { sentAt: currentDate() });
  await scope.transaction(async (scope) => {
    await scope.of(Sent).change(taken, { via: "API" });
    await enqueueSend(scope, chatId);
  });
}
