import { currentDate } from "../../platform/clock";
import { callbackOf } from "../../account/audit/note";
import type { Database } from "../../platform/database/database";
import type { Scope } from "../../platform/database/scope";
import { Deployments } from "../../conversation/workflows/deployments";
import { resolve } from "../../conversation/workflows/target";
import { Calls } from "./calls";
import { enqueueWatch } from "./jobs";
import type { Presented } from "./live-call";
import { openCall } from "./place-call";
import { isCommonSecret, lookupOf } from "./secrets";

/** Another request has opened the call meanwhile: what this one stored is undone. */
class Opened extends Error {}

/**
 * Opens a call that somebody makes to a connected number, when the engine asks who is to answer it: for the number's
 * enabled PHONE_INBOUND deployment, and only where one secret stands for all calls and the request carries it, as no
 * call has given it one. The engine asks as often as it likes: the call is opened once.
 * @returns whether the call is there now
 */
export async function openInbound(
  database: Database,
  { secret, body }: Presented,
  address: string,
): Promise<boolean> {
  const nobody = database.scope("");
  if (!isCommonSecret(nobody, secret)) return false;
  const { engine } = nobody.ports.voice;
  const { engineCallId } = engine.names(body);
  const message = engine.read(body);
  if (message.type !== "assistant-request" || engineCallId === undefined) return false;
  const { calledNumber, callerNumber = null } = message;
  const [owner] = calledNumber === undefined ? [] : await database.ownersOfNumbers(calledNumber);
  if (!owner) return false;
  const scope = database.scope(owner.organizationId);
  const [deployment] = await scope.of(Deployments).on(owner.connectionId, "PHONE_INBOUND");
  if (!deployment) return false;
  const operation = callbackOf(
    scope,
    { operation: "engineServerMessages", recordType: "Call", address, phoneNumber: callerNumber, fields: [] },
    "chats",
  );
  await open(scope.audited(operation), deployment.id, engineCallId, callerNumber).catch((error: unknown) => {
    if (!(error instanceof Opened)) throw error;
  });
  return true;
}

async function open(
  scope: Scope,
  deploymentId: string,
  engineCallId: string,
  phoneNumber: string | null,
): Promise<void> {
  const purpose = { instead: "answer with the copy", check: () => undefined };
  const resolved = await resolve(scope, { deploymentId }, {}, purpose);
  const { engine, silenceMs } = scope.ports.voice;
  const { organizationId } = scope;
  await scope.transaction(async (scope) => {
    const call = { kind: "PHONE", engine: engine.name, line: null, phoneNumber, status: "ringing" } as const;
    const chatId = await openCall(scope, resolved, {}, call);
    const lookup = { lookup: lookupOf("engine", engineCallId), organizationId, chatId };
    const kept = scope.shared("call_lookup").insert(lookup).onConflict("lookup").ignore().returning("chatId");
    if ((await kept).length === 0) throw new Opened();
    // Nobody is to be dialled.
    const now = currentDate();
    const dialled = { engineCallId, dialedAt: now, dialingSince: now, askedAt: now };
    await scope.of(Calls).change(chatId, dialled);
    await enqueueWatch(scope, chatId, currentDate(silenceMs));
  });
}
