import { Chats } from "../../chats/chats/chats";
import { logChatError } from "../../chats/chats/log-chat-error";
import type { Scope } from "../../platform/database/scope";
import { Calls } from "./calls";

/** Ends a call that could not be dialed as failed. If the engine may know the call, a hang-up request is enqueued. */
export async function giveUpStart(scope: Scope, chatId: string): Promise<void> {
  const call = await scope.of(Calls).row(chatId);
  if (!call || call.engineCallId !== null || call.heardAt !== null) return; // it was dialed: the call.watch job ends it
  await endAsFailed(scope, chatId, "call-start-failed", "The call could not be dialed.");
}

/** Ends a call that is no longer watched, because its end would go unnoticed. */
export const giveUpWatch = (scope: Scope, chatId: string): Promise<void> =>
  endAsFailed(scope, chatId, "engine-lost-call", "The state of the call could not be checked.");

/** Logs that the engine may still hold a call that has ended here. */
export const giveUpHangUp = (scope: Scope, chatId: string): Promise<void> =>
  logChatError(scope, chatId, new Error("The voice engine did not confirm that it hung up."));

async function endAsFailed(scope: Scope, chatId: string, reason: string, message: string): Promise<void> {
  await scope.transaction(async (scope) => {
    if (await scope.of(Chats).endIfLive(chatId, reason))
      await logChatError(scope, chatId, new Error(message));
  });
}
