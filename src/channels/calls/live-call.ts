import { currentDate, currentTime } from "../../platform/clock";
import { Chats, type ChatRow } from "../../chats/chats/chats";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { Calls, type CallRow } from "./calls";
import { isCommonSecret, lookupOf } from "./secrets";

/** A call that a callback belongs to. */
export interface FoundCall {
  readonly scope: Scope;
  readonly chat: ChatRow;
  readonly call: CallRow;
}

/** What a request of an engine says of itself. */
export interface Presented {
  readonly secret: string | undefined;
  /** Our id of the call, from a header of ours. */
  readonly callId: string | undefined;
  readonly body: unknown;
}

/**
 * The call whose secret a request carries; with a secret for all calls, the one that it names. Undefined for everything
 * else, and nothing of such a request has an effect.
 */
export async function callOf(database: Database, presented: Presented): Promise<FoundCall | undefined> {
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
  { secret, callId }: Presented,
  names: { readonly callId?: string; readonly engineCallId?: string },
): string[] {
  const nobody = database.scope("");
  const { crypto, voice } = nobody.ports;
  if (secret === undefined) return [];
  if (voice.secret === undefined) return crypto.lookups(secret).map((keyed) => lookupOf("secret", keyed));
  if (!isCommonSecret(nobody, secret)) return [];
  const ours = callId ?? names.callId;
  if (ours !== undefined) return [lookupOf("call", ours)];
  return names.engineCallId === undefined ? [] : [lookupOf("engine", names.engineCallId)];
}

/** When an engine was last heard is exact to this many milliseconds, or to a part of the silence that is worth asking about. */
const HEARD_PRECISION = 5_000;
const PART = 6;

/** Notes that the engine spoke of a call, and what it calls it. */
export async function noteHeard({ scope, call }: FoundCall, body: unknown): Promise<void> {
  const { engine, silenceMs } = scope.ports.voice;
  const { engineCallId } = engine.names(body);
  const precision = Math.min(HEARD_PRECISION, silenceMs / PART);
  const news = call.engineCallId === null && engineCallId !== undefined;
  if (!news && call.heardAt !== null && currentTime() - call.heardAt.getTime() < precision) return;
  const now = currentDate();
  await scope.of(Calls).change(call.chatId, {
    heardAt: now,
    ...(call.dialedAt === null && { dialedAt: now }),
    ...(news && { engineCallId }),
  });
}
