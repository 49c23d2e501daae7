import type { Scope } from "../../platform/database/scope";
import { Calls } from "./calls";

/** The channel on which every server's simulator is told to end a call. */
export const HANG_UP_CHANNEL = "parley_hang_ups";

/** Has the engine end a call that was ended here. One that it was never asked to dial is nothing to it. */
export async function hangUpCall(scope: Scope, chatId: string): Promise<void> {
  const { engine, timeoutMs } = scope.ports.voice;
  const call = await scope.of(Calls).row(chatId);
  if (!call || call.engine !== engine.name) return;
  const { engineCallId, dialingSince } = call;
  if (engineCallId === null && dialingSince === null) return;
  // What the simulator plays is in the memory of one server.
  if (!engine.real) await scope.notify(HANG_UP_CHANNEL, { chatId });
  const reference = {
    callId: chatId,
    since: dialingSince ?? call.createdAt,
    ...(engineCallId !== null && { engineCallId }),
  };
  await engine.hangUp(reference, AbortSignal.timeout(timeoutMs));
}
