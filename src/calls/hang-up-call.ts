import type { Scope } from "../database/scope";
import { Calls } from "./calls";

/** Has the engine end a call that was ended here. One that it was never asked to dial is nothing to it. */
export async function hangUpCall(scope: Scope, chatId: string): Promise<void> {
  const { engine, timeout } = scope.ports.voice;
  const call = await scope.of(Calls).row(chatId);
  if (!call || call.engine !== engine.name) return;
  const { engineCallId, dialingSince } = call;
  if (engineCallId === null && dialingSince === null) return;
  const reference = {
    callId: chatId,
    since: dialingSince ?? call.createdAt,
    ...(engineCallId !== null && { engineCallId }),
  };
  await engine.hangUp(reference, AbortSignal.timeout(timeout));
}
