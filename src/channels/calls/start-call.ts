import { currentDate, currentTime } from "../../platform/clock";
import { Chats, type ChatRow } from "../../chats/chats/chats";
import { logChatError } from "../../chats/chats/log-chat-error";
import type { Scope } from "../../platform/database/scope";
import { Deadline, RequestNotSent } from "../../platform/outbound/deadline";
import { CallRefused, type EngineCall } from "../../platform/ports/voice-engine";
import { conclude, speakerOf } from "../../conversation/workflows/speaker";
import { Calls, type CallRow } from "./calls";
import { turnToDial } from "./dial-limits";
import { enqueueStart } from "./jobs";
import { lineById } from "./line";
import { orderOf } from "./order";
import { lookupOf, storeLookups } from "./secrets";

/** Number of attempts to dial if the engine does not answer. */
const MAX_ATTEMPTS = 3;
/** Multiple of the engine's timeout after which a dial request has either been carried out or never will be. */
const SETTLE_FACTOR = 2;

interface Claim {
  readonly chat: ChatRow;
  readonly call: CallRow;
  /** Number of this attempt; a higher stored number means that another server has taken over. */
  readonly attempt: number;
}

/**
 * Dials a call once. The intent is stored before the engine is called; a retry looks the call up at the engine first
 * and dials again only when the call cannot be there anymore.
 */
export async function startCall(scope: Scope, chatId: string): Promise<void> {
  const waiting = await scope.of(Calls).row(chatId);
  if (!waiting) return;
  if (waiting.dialingSince !== null && (await findAtEngine(scope, waiting, waiting.dialingSince))) return;
  const deadline = new Deadline(scope.ports.voice.timeoutMs);
  const claim = await scope.transaction((scope) => claimCall(scope, chatId));
  if (claim) await dial(scope, claim, deadline);
}

/** Claims a call. @returns undefined if the engine must not be called now */
async function claimCall(scope: Scope, chatId: string): Promise<Claim | undefined> {
  const [chat] = await scope.table("chats").where({ id: chatId }).forUpdate();
  const call = await scope.of(Calls).row(chatId);
  if (!chat || !call || chat.status === "ended" || isKnown(call)) return undefined;
  const { engine, timeoutMs } = scope.ports.voice;
  if (call.engine !== engine.name)
    return void (await scope.of(Chats).endIfLive(chatId, "engine-changed", { hangUp: false }));
  if (call.dialAttempts >= MAX_ATTEMPTS && isSettled(call, timeoutMs))
    return void (await scope.of(Chats).endIfLive(chatId, "engine-unreachable"));
  const wait =
    call.askedAt === null
      ? call.line === null
        ? 0
        : await turnToDial(scope, call, call.line)
      : msToSettle(call, timeoutMs);
  if (wait > 0) return void (await enqueueStart(scope, chatId, currentDate(wait)));
  const askedAt = scope.now();
  const dialingSince = call.dialingSince ?? askedAt;
  const attempt = call.dialAttempts + 1;
  await scope.table("calls").where({ chatId }).update({ dialingSince, askedAt, dialAttempts: attempt });
  return { chat, call, attempt };
}

/** Whether the engine has confirmed the call or called back about it. */
const isKnown = ({ engineCallId, heardAt }: CallRow) => engineCallId !== null || heardAt !== null;

const msToSettle = ({ askedAt }: CallRow, timeoutMs: number) =>
  askedAt!.getTime() + timeoutMs * SETTLE_FACTOR - currentTime();
const isSettled = (call: CallRow, timeoutMs: number) => msToSettle(call, timeoutMs) <= 0;

async function findAtEngine(scope: Scope, call: CallRow, since: Date): Promise<boolean> {
  if (isKnown(call)) return true;
  const { engine, timeoutMs } = scope.ports.voice;
  const found = await engine
    .find({ callId: call.chatId, since }, AbortSignal.timeout(timeoutMs))
    .catch(async (error: unknown) => {
      // Dialing again is unsafe until the engine can be asked.
      await logChatError(scope, call.chatId, error as Error);
      await enqueueStart(scope, call.chatId, currentDate(timeoutMs));
      return "unanswered" as const;
    });
  if (found === undefined) return false;
  if (found !== "unanswered") await storePlacedCall(scope, call.chatId, found);
  return true;
}

async function dial(scope: Scope, claim: Claim, deadline: Deadline): Promise<void> {
  const { chat, call } = claim;
  const { engine, timeoutMs } = scope.ports.voice;
  const { id, phoneNumber, userName, externalId } = chat;
  try {
    const speaker = await speakerOf(scope, chat);
    if ("ending" in speaker) return await conclude(scope, chat, speaker.ending);
    const line = call.line === null ? undefined : await lineById(scope, call.line);
    if (call.line !== null && !line)
      throw new CallRefused("The number to call from was disconnected.", "no-phone-number");
    const order = {
      ...(await orderOf(scope, speaker, call)),
      phoneNumber: phoneNumber!, // phone calls always have a number
      ...(userName !== null && { userName }),
      ...(externalId !== null && { externalId }),
      ...(line?.from && { from: line.from }),
    };
    await checkClaim(scope, claim);
    await storePlacedCall(scope, id, await engine.place(order, deadline.signal()));
  } catch (error) {
    if (error instanceof RequestNotSent) return releaseClaim(scope, claim);
    await logChatError(scope, id, error as Error);
    if (error instanceof CallRefused)
      await scope.transaction((scope) => scope.of(Chats).endIfLive(id, error.reason, { hangUp: false }));
    else await enqueueStart(scope, id, currentDate(timeoutMs * SETTLE_FACTOR));
  }
}

/**
 * Checks the claim right before the engine is called: if this server stalled, another one may have taken it over.
 * @throws RequestNotSent if so
 */
async function checkClaim(scope: Scope, { chat, attempt }: Claim): Promise<void> {
  const { timeoutMs } = scope.ports.voice;
  const claimed = scope.table("calls").where({ chatId: chat.id, dialAttempts: attempt });
  const mine = claimed.where("askedAt", ">", scope.now(-timeoutMs)).select("chatId");
  if ((await mine).length === 0) throw new RequestNotSent("The call was not dialed: its claim had ended.");
}

/**
 * Restores the call as it was before the claim, because the engine was not called; unless another server has claimed
 * it.
 */
async function releaseClaim(scope: Scope, { chat, call, attempt }: Claim): Promise<void> {
  const { dialingSince, askedAt, dialAttempts } = call;
  const claimed = scope.table("calls").where({ chatId: chat.id, dialAttempts: attempt });
  const changed = await claimed.update({ dialingSince, askedAt, dialAttempts });
  if (changed > 0) await enqueueStart(scope, chat.id);
}

/** Stores the engine's answer. A call that has ended in the meantime is hung up. */
async function storePlacedCall(
  scope: Scope,
  chatId: string,
  { id, status, endedReason }: EngineCall,
): Promise<void> {
  await scope.transaction(async (scope) => {
    const [chat] = await scope.table("chats").where({ id: chatId }).forUpdate();
    await scope.of(Calls).change(chatId, { engineCallId: id, dialedAt: currentDate() });
    await storeLookups(scope, chatId, [lookupOf("engine", id)]);
    if (chat?.status === "ended") return scope.enqueue("call.hangUp", { chatId });
    if (status === "ended")
      await scope.of(Chats).endIfLive(chatId, endedReason ?? "unknown", { hangUp: false });
    else await scope.of(Chats).advance(chatId, status);
  });
}
