import type { Scope } from "../../platform/database/scope";

/**
 * Ends a call at the engine and deletes the engine's data about it. Works even if the call is no longer stored here.
 */
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

/** Identifies a call at the engine after it has been deleted here. */
export interface CallAtEngine {
  readonly callId: string;
  readonly engineCallId?: string;
  readonly since: string;
}

/** The given calls that the engine was ever asked to dial. */
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

/** Enqueues deletion of the engine's data about these calls. Runs in a transaction. */
export async function enqueueErasure(scope: Scope, chatIds: readonly string[]): Promise<void> {
  for (const call of await callsAtEngine(scope, chatIds)) await scope.enqueue("call.erase", { ...call });
}
