import { currentDate } from "../../platform/clock";
import { Assistants } from "../../assistants/assistants/assistants";
import { firstStatus, type ChatRow, type Visited } from "../../chats/chats/chats";
import { EndUsers } from "../../chats/chats/end-users";
import { newId } from "../../platform/database/ids";
import { indexable } from "../../platform/database/long-texts";
import type { Scope } from "../../platform/database/scope";
import { Events } from "../../events/events/events";
import { Quotas } from "../../account/organization/quotas";
import { startOf } from "../../conversation/workflows/flow";
import type { ResolvedTarget } from "../../conversation/workflows/target";
import { Workflows } from "../../conversation/workflows/workflows";
import type { JsonObject } from "../../platform/json/json-object";
import { Calls, type Call, type CallRow } from "./calls";
import { enqueueStart, enqueueWatch } from "./jobs";
import { lineFor } from "./line";
import { checkPhoneNumber } from "./phone-number";
import { lookupOf, newCallSecret, remember, sealSecret } from "./secrets";
import { resolveTarget, type CallTarget } from "./target";

/** Who is called, and what to keep with the call. */
export interface Callee extends Partial<Visited> {
  readonly userName?: string | null;
  readonly userId?: string | null;
  /** Whom the assistant remembers; userId, else anonymousId, without it. */
  readonly uniqueId?: string | null;
  readonly anonymousId?: string | null;
  readonly externalId?: string | null;
  readonly metadata?: JsonObject | null;
  readonly variables?: JsonObject | null;
}

/**
 * Places a call: accepted at once, and dialled by a job. Chat, call and job are stored together, before the engine is
 * asked for anything.
 * @param connectionId the connected number to call from; without it the deployment's, else the organization's own choice
 * @throws BAD_USER_INPUT that names the rule for a number that may not be called; ASSISTANT_NOT_FOUND,
 * WORKFLOW_NOT_FOUND, WORKFLOW_HAS_PROBLEMS, DEPLOYMENT_NOT_FOUND, DEPLOYMENT_NOT_CALLABLE, TEMPLATE_READ_ONLY,
 * QUOTA_EXCEEDED
 */
export async function placeCall(
  scope: Scope,
  target: CallTarget,
  phoneNumber: string,
  callee: Callee,
  connectionId?: string,
): Promise<Call> {
  const { voice } = scope.ports;
  const resolved = await resolveTarget(scope, target, callee.variables);
  const line = await lineFor(scope, resolved.assistant.id, connectionId ?? resolved.connectionId);
  checkPhoneNumber(
    scope,
    phoneNumber,
    voice.countries ?? (line.country === undefined ? undefined : [line.country]),
  );
  return scope.transaction(async (scope) => {
    const chatId = await openCall(scope, resolved, callee, {
      kind: "PHONE",
      engine: voice.engine.name,
      // Where nothing real is dialled, no limits of dialling hold.
      line: voice.engine.real ? line.id : null,
      phoneNumber,
      status: "queued",
    });
    await enqueueStart(scope, chatId);
    await enqueueWatch(scope, chatId, currentDate(voice.silenceMs));
    return scope.of(Calls).byId(chatId);
  });
}

type Opened = Pick<CallRow, "kind" | "engine" | "line"> & Pick<ChatRow, "status" | "phoneNumber">;

/** Who is called, as the chat keeps it. An empty text counts as none. */
function personOf(callee: Omit<Callee, "variables" | "metadata">) {
  const given = Object.entries(callee).filter(([, value]) => value !== "");
  const person = Object.fromEntries(given) as typeof callee;
  // Spec gap: the person behind a call is userId, else anonymousId.
  const known = person.uniqueId ?? person.userId ?? person.anonymousId ?? null;
  // Whoever calls by an anonymousId may have chosen it: nobody vouches for the person.
  const identityProven = person.identityProven ?? (person.uniqueId != null || known !== person.anonymousId);
  return { ...person, uniqueId: known === null ? null : indexable(known), identityProven };
}

/** Stores a call and its chat, in a transaction. @returns their id @throws QUOTA_EXCEEDED before anything is stored */
export async function openCall(
  scope: Scope,
  { assistant, workflowId, flow, deploymentId }: ResolvedTarget,
  { variables, metadata, ...callee }: Callee,
  { status, phoneNumber, ...call }: Opened,
): Promise<string> {
  const { crypto } = scope.ports;
  await scope.of(Assistants).hold(assistant.id);
  if (workflowId !== undefined) await scope.of(Workflows).hold(workflowId);
  await scope.of(Quotas).checkRoomFor("liveChats");
  const person = personOf(callee);
  const { uniqueId } = person;
  if (uniqueId !== null) await scope.of(EndUsers).meet(assistant.id, uniqueId);
  const id = newId();
  const secret = newCallSecret();
  const [chat] = await scope.insert("chats", {
    id,
    assistantId: assistant.id,
    workflowId,
    deploymentId,
    workflowNodeId: flow && startOf(flow),
    channel: "VOICE",
    status,
    ...firstStatus(),
    phoneNumber,
    label: person.userName,
    ...person,
    variables: variables ?? {},
    metadata: metadata ?? {},
  });
  const sealedSecret = sealSecret(scope, id, secret);
  await scope.insert("calls", { ...call, chatId: id, workflowId, deploymentId, sealedSecret });
  await remember(scope, id, [lookupOf("secret", crypto.lookup(secret)), lookupOf("call", id)]);
  await scope.of(Events).sessionStarted(chat!);
  await scope.of(Events).statusChanged(chat!);
  return id;
}
