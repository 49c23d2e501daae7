import type { Scope } from "../../platform/database/scope";
import { Calls } from "./calls";

/** Notification channel that tells the simulator in every server to end a call. */
export const HANG_UP_CHANNEL = "parley_hang_ups";

/** Asks the engine to end a call that was ended here, unless the engine was never asked to dial it. */
export async function hangUpCall(scope: Scope, chatId: string): Promise<void> {
  const { engine, timeoutMs } = scope.ports.voice;
  const call = await scope.of(Calls).row(chatId);
  if (!call || call.engine !== engine.name) return;
  const { engineCallId, dialingSince } = call;
  if (engineCallId === null && dialingSince === null) return;
  // The simulator keeps its calls in the memory of one server.
  if (!engine.real) await scope.notify(HANG_UP_CHANNEL, { chatId });
  const reference = {
    callId: chatId,
    since: dialingSince ?? call.createdAt,
    ...(engineCallId !== null && { engineCallId }),
  };
  await engine.hangUp(reference, AbortSignal.timeout(timeoutMs));
}
