import type { Scope } from "../../platform/database/scope";

/** Ends a call at the engine, and has the engine delete what it keeps of it. Of the call nothing need be stored here any more. */
export async function eraseCall(
  scope: Scope,
  { callId, engineCallId, since }: Partial<CallAtEngine>,
): Promise<void> {
  const { engine, timeoutMs } = scope.ports.voice;
  const call = {
    callId: callId!,
    since: new Date(since!),
    ...(engineCallId !== undefined && { engineCallId }),
  };
  await engine.hangUp(call, AbortSignal.timeout(timeoutMs));
  await engine.erase(call, AbortSignal.timeout(timeoutMs));
}

/** How a call is found at the engine when nothing of it is stored here any more. */
export interface CallAtEngine {
  readonly callId: string;
  readonly engineCallId?: string;
  readonly since: string;
}

/** Those of these calls that the engine was ever asked for. */
export async function callsAtEngine(scope: Scope, chatIds: readonly string[]): Promise<CallAtEngine[]> {
  const calls = await scope.table("calls").whereIn("chatId", chatIds);
  return calls
    .filter(({ engine }) => engine === scope.ports.voice.engine.name)
    .filter(({ engineCallId, dialingSince }) => engineCallId !== null || dialingSince !== null)
    .map(({ chatId, engineCallId, dialingSince, createdAt }) => ({
      callId: chatId,
      since: (dialingSince ?? createdAt).toISOString(),
      ...(engineCallId !== null && { engineCallId }),
    }));
}

/** Has a job delete what the engine keeps of these calls. In a transaction. */
export async function eraseAtEngine(scope: Scope, chatIds: readonly string[]): Promise<void> {
  for (const call of await callsAtEngine(scope, chatIds)) await scope.enqueue("call.erase", { ...call });
}
