import { currentDate } from "../../platform/clock";
import { callbackOf } from "../../account/audit/note";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import { answering, type ResolvedTarget } from "../../conversation/workflows/target";
import { Calls } from "./calls";
import { enqueueWatch } from "./jobs";
import type { EngineRequest } from "./live-call";
import { openCall } from "./place-call";
import { isCommonSecret, lookupOf } from "./secrets";

/** Another request opened the call concurrently; this transaction rolls back. */
class CallAlreadyOpen extends Error {}

/**
 * Opens an incoming call to a connected number when the engine asks which assistant answers: that of the number's oldest
 * enabled PHONE_INBOUND deployment that can run. Requires one, and the common secret for all calls, because an incoming call
 * has no secret of its own. Repeated requests open the call only once.
 * @returns whether the call exists now
 */
export async function openInbound(
  database: Database,
  { secret, body }: EngineRequest,
  address: string,
): Promise<boolean> {
  const noOrganization = database.scope("");
  if (!isCommonSecret(noOrganization, secret)) return false;
  const { engine } = noOrganization.ports.voice;
  const { engineCallId } = engine.names(body);
  const message = engine.read(body);
  if (message.type !== "assistant-request" || engineCallId === undefined) return false;
  const { calledNumber, callerNumber = null } = message;
  const [owner] = calledNumber === undefined ? [] : await database.ownersOfNumbers(calledNumber);
  if (!owner) return false;
  const scope = database.scope(owner.organizationId);
  const found = await answering(scope, owner.connectionId, "PHONE_INBOUND", "answer with the copy");
  const targets = found.map((one) => one.target);
  const target = targets.find((one) => !(one instanceof DomainError)) ?? targets[0];
  if (target instanceof DomainError) throw target;
  if (!target) return false;
  const operation = callbackOf(
    scope,
    { operation: "engineServerMessages", recordType: "Call", address, phoneNumber: callerNumber, fields: [] },
    "chats",
  );
  await open(scope.audited(operation), target, engineCallId, callerNumber).catch((error: unknown) => {
    if (!(error instanceof CallAlreadyOpen)) throw error;
  });
  return true;
}

async function open(
  scope: Scope,
  resolved: ResolvedTarget,
  engineCallId: string,
  phoneNumber: string | null,
): Promise<void> {
  const { engine, silenceMs } = scope.ports.voice;
  const { organizationId } = scope;
  await scope.transaction(async (scope) => {
    const call = { kind: "PHONE", engine: engine.name, line: null, phoneNumber, status: "ringing" } as const;
    const chatId = await openCall(scope, resolved, { mayRefuse: false }, call);
    const lookup = { lookup: lookupOf("engine", engineCallId), organizationId, chatId };
    const inserted = scope
      .shared("call_lookup")
      .insert(lookup)
      .onConflict("lookup")
      .ignore()
      .returning("chatId");
    if ((await inserted).length === 0) throw new CallAlreadyOpen();
    // Marks the call as dialed already.
    const now = currentDate();
    const dialed = { engineCallId, dialedAt: now, dialingSince: now, askedAt: now };
    await scope.of(Calls).change(chatId, dialed);
    await enqueueWatch(scope, chatId, currentDate(silenceMs));
  });
}
