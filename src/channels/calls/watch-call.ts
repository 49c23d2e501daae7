import { currentTime } from "../../platform/clock";
import { Chats, type ChatRow } from "../../chats/chats/chats";
import type { Scope } from "../../platform/database/scope";
import { Calls, PAGE, type CallRow } from "./calls";
import { forgetReports } from "./claims";
import { enqueueStart, enqueueWatch } from "./jobs";

/**
 * Checks a live call: hangs up a call that lasts too long, and asks the engine about a call that has been silent for
 * a while, because the callback about its end may be lost, or its sender may have crashed.
 */
export async function watchCall(scope: Scope, chatId: string): Promise<void> {
  const { silenceMs, maxSeconds } = scope.ports.voice;
  const call = await scope.of(Calls).row(chatId);
  const chat = await scope.of(Chats).row(chatId);
  if (!call || !chat) return;
  if (chat.status === "ended") {
    const later = await forgetReports(scope, chatId, chat.endedAt!); // set for every ended chat
    return later && enqueueWatch(scope, chatId, later);
  }
  // A call in the widget's page sends no callbacks: it is checked once, at its maximum duration.
  if (call.engine === PAGE) return endFor(scope, chatId, "exceeded-max-duration");
  const now = currentTime();
  const heard = Math.max(call.heardAt?.getTime() ?? 0, call.dialedAt?.getTime() ?? 0);
  if (heard === 0 && call.kind === "WEB")
    return void (await scope.transaction((scope) =>
      scope.of(Chats).endIfLive(chatId, "engine-unreachable", { hangUp: false }),
    ));
  if (heard === 0) {
    // It is unknown whether the call was dialed; starting it again finds out.
    await enqueueStart(scope, chatId);
    return enqueueWatch(scope, chatId, new Date(now + silenceMs));
  }
  const limit = (call.answeredAt ?? call.dialedAt ?? call.createdAt).getTime() + maxSeconds * 1_000;
  if (now >= limit) return endFor(scope, chatId, "exceeded-max-duration");
  if (now >= heard + silenceMs) await askEngine(scope, chat, call);
  const next = now >= heard + silenceMs ? now + silenceMs : heard + silenceMs;
  await enqueueWatch(scope, chatId, new Date(Math.min(next, limit)));
}

async function endFor(scope: Scope, chatId: string, reason: string): Promise<void> {
  await scope.transaction((scope) => scope.of(Chats).endIfLive(chatId, reason));
}

async function askEngine(
  scope: Scope,
  chat: ChatRow,
  { chatId, engineCallId, dialingSince, createdAt }: CallRow,
): Promise<void> {
  const { engine, timeoutMs } = scope.ports.voice;
  const reference = {
    callId: chatId,
    since: dialingSince ?? createdAt,
    ...(engineCallId !== null && { engineCallId }),
  };
  const found = await engine
    .find(reference, AbortSignal.timeout(timeoutMs))
    .catch(() => "unanswered" as const);
  if (found === "unanswered") return;
  await scope.transaction(async (scope) => {
    const chats = scope.of(Chats);
    if (!found) await chats.endIfLive(chatId, "engine-lost-call", { hangUp: false });
    else if (found.status === "ended")
      await chats.endIfLive(chatId, chat.ending ?? found.endedReason ?? "unknown", { hangUp: false });
    else await chats.advance(chatId, found.status);
  });
}
