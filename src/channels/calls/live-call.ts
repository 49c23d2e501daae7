import { currentDate, currentTime } from "../../platform/clock";
import { Chats, type ChatRow } from "../../chats/chats/chats";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { Calls, type CallRow } from "./calls";
import { isCommonSecret, lookupOf } from "./secrets";

/** The call that a callback belongs to. */
export interface FoundCall {
  readonly scope: Scope;
  readonly chat: ChatRow;
  readonly call: CallRow;
}

/** Credentials and call ids in a request from an engine. */
export interface EngineRequest {
  readonly secret: string | undefined;
  /** Our id of the call, from the `x-parley-call` header. */
  readonly callId: string | undefined;
  readonly body: unknown;
}

/**
 * Finds the call by the secret of a request, or, if one secret serves all calls, by the id that the request names.
 * Undefined if nothing matches; such a request must have no effect.
 */
export async function callOf(database: Database, presented: EngineRequest): Promise<FoundCall | undefined> {
  const { voice } = database.scope("").ports;
  const names = voice.engine.names(presented.body);
  const lookups = lookupsOf(database, presented, names);
  const owner = lookups.length > 0 ? await database.ownerOfCall(lookups) : undefined;
  if (!owner || (names.callId !== undefined && names.callId !== owner.chatId)) return undefined;
  const scope = database.scope(owner.organizationId);
  const [call, chat] = await Promise.all([
    scope.of(Calls).row(owner.chatId),
    scope.of(Chats).row(owner.chatId),
  ]);
  return call && chat && { scope, chat, call };
}

function lookupsOf(
  database: Database,
  { secret, callId }: EngineRequest,
  names: { readonly callId?: string; readonly engineCallId?: string },
): string[] {
  const noOrganization = database.scope("");
  const { crypto, voice } = noOrganization.ports;
  if (secret === undefined) return [];
  if (voice.secret === undefined) return crypto.lookups(secret).map((keyed) => lookupOf("secret", keyed));
  if (!isCommonSecret(noOrganization, secret)) return [];
  const ours = callId ?? names.callId;
  if (ours !== undefined) return [lookupOf("call", ours)];
  return names.engineCallId === undefined ? [] : [lookupOf("engine", names.engineCallId)];
}

/** Precision of `heardAt`, in ms. For short silence limits it is this fraction of the limit. */
const HEARD_PRECISION_MS = 5_000;
const SILENCE_FRACTION = 6;

/** Records that the engine called back about a call, and the engine's id of the call. */
export async function noteHeard({ scope, call }: FoundCall, body: unknown): Promise<void> {
  const { engine, silenceMs } = scope.ports.voice;
  const { engineCallId } = engine.names(body);
  const precision = Math.min(HEARD_PRECISION_MS, silenceMs / SILENCE_FRACTION);
  const isNewId = call.engineCallId === null && engineCallId !== undefined;
  if (!isNewId && call.heardAt !== null && currentTime() - call.heardAt.getTime() < precision) return;
  const now = currentDate();
  await scope.of(Calls).change(call.chatId, {
    heardAt: now,
    ...(call.dialedAt === null && { dialedAt: now }),
    ...(isNewId && { engineCallId }),
  });
}
