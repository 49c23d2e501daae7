import type { Scope } from "../database/scope";
import type { CallRow } from "./calls";

/** Ends a call at the engine, and has the engine delete what it keeps of it. Of the call nothing need be stored here any more. */
export async function eraseCall(
  scope: Scope,
  { callId, engineCallId, since }: Readonly<Record<string, string>>,
): Promise<void> {
  const { engine, timeout } = scope.ports.voice;
  const call = {
    callId: callId!,
    since: new Date(since!),
    ...(engineCallId !== undefined && { engineCallId }),
  };
  await engine.hangUp(call, AbortSignal.timeout(timeout));
  await engine.erase(call, AbortSignal.timeout(timeout));
}

/** Has a job end these calls and delete what the engine keeps of them, those that the engine was ever asked for. In a transaction. */
export async function eraseAtEngine(scope: Scope, chatIds: readonly string[]): Promise<void> {
  const calls = (await scope.table("calls").whereIn("chatId", chatIds)) as CallRow[];
  for (const { chatId, engine, engineCallId, dialingSince, createdAt } of calls)
    if (engine === scope.ports.voice.engine.name && (engineCallId !== null || dialingSince !== null))
      await scope.enqueue("call.erase", {
        callId: chatId,
        since: (dialingSince ?? createdAt).toISOString(),
        ...(engineCallId !== null && { engineCallId }),
      });
}
