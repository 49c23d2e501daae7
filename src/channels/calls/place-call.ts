import { currentDate } from "../../platform/clock";
import { PinnedAssistants } from "../../assistants/versions/pinned-assistants";
import { firstStatus, type ChatRow, type VisitorColumns } from "../../chats/chats/chats";
import { EndUsers } from "../../chats/chats/end-users";
import { noteLogs } from "../../chats/logs/log-changes";
import { newId } from "../../platform/database/values/ids";
import { indexable } from "../../platform/database/values/long-texts";
import type { Scope } from "../../platform/database/scope";
import { Events } from "../../events/events/events";
import { Quotas } from "../../account/organization/quotas";
import { targetColumns, storeDraft } from "../../conversation/workflows/pin-chat";
import type { ResolvedTarget } from "../../conversation/workflows/target";
import { checkVariables } from "../../conversation/turns/unresolved-variables";
import { Workflows } from "../../conversation/workflows/workflows";
import type { JsonObject } from "../../platform/json/json-object";
import { Calls, type Call, type CallRow } from "./calls";
import { enqueueStart, enqueueWatch } from "./jobs";
import { lineFor } from "./line";
import { checkPhoneNumber } from "./phone-number";
import { lookupOf, newCallSecret, storeLookups, sealSecret } from "./secrets";
import { resolveTarget, type CallTarget } from "./target";

/** The person who is called, and data to store with the call. */
export interface Callee extends Partial<VisitorColumns> {
  readonly userName?: string | null;
  readonly userId?: string | null;
  /** Key of the assistant's memory of the person; defaults to userId, then anonymousId. */
  readonly uniqueId?: string | null;
  readonly anonymousId?: string | null;
  readonly externalId?: string | null;
  /** Whether the request comes from a web page, with a credential that the page's visitors can see. */
  readonly fromPage?: boolean;
  /** Whether missing variables may refuse the call; default true. */
  readonly mayRefuse?: boolean;
  readonly metadata?: JsonObject | null;
  readonly variables?: JsonObject | null;
}

/**
 * Places a call: it is accepted at once and dialed by a job. Chat, call and job are stored in one transaction before
 * the engine is called.
 * @param connectionId the connected number to call from; defaults to the deployment's, then the organization's choice
 * @throws BAD_USER_INPUT naming the rule if the number may not be called; ASSISTANT_NOT_FOUND, WORKFLOW_NOT_FOUND,
 * WORKFLOW_HAS_PROBLEMS, DEPLOYMENT_NOT_FOUND, DEPLOYMENT_NOT_CALLABLE, TEMPLATE_READ_ONLY, QUOTA_EXCEEDED,
 * DRAFT_NOT_FOUND, MISSING_VARIABLES
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
  checkPhoneNumber(scope, phoneNumber, line);
  const problem = voice.engine.problemOf?.(callee.metadata ?? {});
  if (problem !== undefined) scope.warn(problem);
  return scope.transaction(async (scope) => {
    const chatId = await openCall(scope, resolved, callee, {
      kind: "PHONE",
      engine: voice.engine.name,
      // The simulator has no dialing limits.
      line: voice.engine.real ? line.id : null,
      phoneNumber,
      status: "queued",
    });
    await enqueueStart(scope, chatId);
    await enqueueWatch(scope, chatId, currentDate(voice.silenceMs));
    return scope.of(Calls).byId(chatId);
  });
}

type CallColumns = Pick<CallRow, "kind" | "engine" | "line"> & Pick<ChatRow, "status" | "phoneNumber">;

/** The person's columns of the chat. An empty string counts as absent. */
function personOf(callee: Omit<Callee, "variables" | "metadata" | "mayRefuse">) {
  const given = Object.entries(callee).filter(([, value]) => value !== "");
  const person = Object.fromEntries(given) as typeof callee;
  // Spec gap: the person is identified by userId, else by anonymousId.
  const known = person.uniqueId ?? person.userId ?? person.anonymousId ?? null;
  // A client can choose any anonymousId, so it does not prove the identity.
  const identityProven = person.identityProven ?? (person.uniqueId != null || known !== person.anonymousId);
  return { ...person, uniqueId: known === null ? null : indexable(known), identityProven };
}

/** Locks the call's assistant and workflow. @throws QUOTA_EXCEEDED */
async function checkStart(scope: Scope, { assistant, workflowId }: ResolvedTarget): Promise<void> {
  await scope.of(PinnedAssistants).lockForChat(assistant);
  if (workflowId !== undefined) await scope.of(Workflows).lockForChat(workflowId);
  await scope.of(Quotas).checkRoomFor("liveChats");
}

/**
 * Stores a call and its chat. Runs in a transaction. @returns their id @throws QUOTA_EXCEEDED or MISSING_VARIABLES before
 * anything is stored
 */
export async function openCall(
  scope: Scope,
  resolved: ResolvedTarget,
  { variables, metadata, mayRefuse, ...callee }: Callee,
  { status, phoneNumber, ...call }: CallColumns,
): Promise<string> {
  const { crypto } = scope.ports;
  const { assistant, workflowId, deploymentId } = resolved;
  await checkStart(scope, resolved);
  const { fromPage = false, ...person } = personOf(callee);
  const greetingOnly = fromPage || person.visitorId != null;
  await checkVariables(scope, { ...resolved, channel: "VOICE", variables, greetingOnly, mayRefuse });
  const { uniqueId } = person;
  if (uniqueId !== null) await scope.of(EndUsers).register(assistant.id, uniqueId);
  const id = newId();
  const secret = newCallSecret();
  const [chat] = await scope.insert("chats", {
    id,
    ...targetColumns(resolved),
    channel: "VOICE",
    status,
    ...firstStatus(),
    phoneNumber,
    label: person.userName,
    ...person,
    variables: variables ?? {},
    metadata: metadata ?? {},
  });
  await storeDraft(scope, id, resolved);
  await noteLogs(scope, [id], 1);
  const sealedSecret = sealSecret(scope, id, secret);
  await scope.insert("calls", { ...call, chatId: id, workflowId, deploymentId, sealedSecret });
  await storeLookups(scope, id, [lookupOf("secret", crypto.lookup(secret)), lookupOf("call", id)]);
  await scope.of(Events).sessionStarted(chat!);
  await scope.of(Events).statusChanged(chat!);
  return id;
}
