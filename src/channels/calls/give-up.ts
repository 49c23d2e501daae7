import { Chats } from "../../chats/chats/chats";
import { keepError } from "../../chats/chats/keep-error";
import type { Scope } from "../../platform/database/scope";
import { Calls } from "./calls";

/** Fails a call that could not be dialled. If the engine may know it, the engine is told to hang up. */
export async function giveUpStart(scope: Scope, chatId: string): Promise<void> {
  const call = await scope.of(Calls).row(chatId);
  if (!call || call.engineCallId !== null || call.heardAt !== null) return; // it was dialled: the watch looks after it
  await fail(scope, chatId, "call-start-failed", "The call could not be dialed.");
}

/** Ends a call that nobody looks after any more: its end would never be noticed. */
export const giveUpWatch = (scope: Scope, chatId: string): Promise<void> =>
  fail(scope, chatId, "engine-lost-call", "The state of the call could not be checked.");

/** The call has ended here; the log says that the engine may not know it. */
export const giveUpHangUp = (scope: Scope, chatId: string): Promise<void> =>
  keepError(scope, chatId, new Error("The voice engine could not be told to hang up."));

async function fail(scope: Scope, chatId: string, reason: string, message: string): Promise<void> {
  await scope.transaction(async (scope) => {
    if (await scope.of(Chats).endIfLive(chatId, reason)) await keepError(scope, chatId, new Error(message));
  });
}
