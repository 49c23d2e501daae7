import { Assistants } from "../../assistants/assistants/assistants";
import type { Channel } from "../../platform/catalog/load-catalog";
import { newId } from "../../platform/database/values/ids";
import { indexable } from "../../platform/database/values/long-texts";
import type { New } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import type { JsonObject } from "../../platform/json/json-object";
import { EndUsers } from "../chats/end-users";
import type { MessageRole } from "../chats/messages";
import { labelFrom } from "../chats/store-message";
import { noteLogs } from "./log-changes";

/** A message of a conversation that another service has had. */
export interface ImportedMessage {
  readonly id?: string | null;
  readonly role: MessageRole;
  readonly channel?: Channel | null;
  readonly content?: string | null;
  readonly metadata?: JsonObject | null;
  readonly toolCallId?: string | null;
  readonly toolCalls?: JsonObject[] | null;
  readonly createdAt?: Date | null;
}

/** A conversation that has ended on another service. */
export interface ImportedLog {
  readonly id: string;
  readonly type: Channel;
  readonly createdAt: Date;
  readonly label?: string | null;
  readonly endedAt?: Date | null;
  readonly endedReason?: string | null;
  readonly recordingUrl?: string | null;
  readonly phoneNumber?: string | null;
  readonly userName?: string | null;
  readonly userId?: string | null;
  readonly anonymousId?: string | null;
  readonly externalId?: string | null;
  readonly uniqueId?: string | null;
  readonly metadata?: JsonObject | null;
  readonly variables?: JsonObject | null;
  readonly workflowId?: string | null;
  readonly workflowNodeId?: string | null;
  readonly deploymentId?: string | null;
  readonly assistantVersion?: number | null;
  /** Versions of all assistants of the workflow. */
  readonly versions?: readonly { readonly assistantId: string; readonly number: number }[] | null;
  readonly draft?: boolean | null;
  readonly errors?: readonly { readonly at: Date; readonly message: string }[] | null;
  readonly messages: readonly ImportedMessage[];
}

export interface LogImport {
  /** Number of logs that were stored. */
  readonly imported: number;
  /** Ids of logs that existed and were left as they are. */
  readonly existing: readonly string[];
}

const IMPORTED = "imported";
/** Other ids are replaced: the source may number the messages of each conversation from 1. */
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Stores conversations of another service as logs of an assistant, without events and jobs: nobody is told of them and
 * none is answered. Logs that exist stay as they are. Runs in a transaction.
 * @throws ASSISTANT_NOT_FOUND (deleted assistants are allowed), CONFLICT
 */
export async function importLogs<L extends ImportedLog>(
  scope: Scope,
  assistantId: string,
  logs: readonly L[],
): Promise<LogImport & { readonly stored: readonly L[] }> {
  await scope.of(Assistants).byIdIncludingDeleted(assistantId);
  // Two imports at once would store the same logs.
  await scope.lock("logs.import");
  const ids = logs.map(({ id }) => id);
  const stored = await scope.table("chats").select("id", "assistantId").whereIn("id", ids);
  const other = stored.find((chat) => chat.assistantId !== assistantId);
  if (other)
    throw new DomainError("CONFLICT", `The assistant ${other.assistantId} has a log with id ${other.id}.`);
  const known = new Set(stored.map(({ id }) => id));
  const unique = new Map(logs.filter(({ id }) => !known.has(id)).map((log) => [log.id, log]));
  const fresh = [...unique.values()];
  const used = await usedMessageIds(scope, fresh);
  await scope.insertAll(
    "chats",
    fresh.map((log) => chatOf(assistantId, log)),
  );
  await scope.insertAll(
    "messages",
    fresh.flatMap((log) => messagesOf(assistantId, log, used)),
  );
  await noteLogs(scope, [...unique.keys()], 1);
  const people = new Set(fresh.map(uniqueIdOf).filter((id) => id !== null));
  for (const person of people) await scope.of(EndUsers).register(assistantId, person);
  return { imported: fresh.length, existing: [...known], stored: fresh };
}

function chatOf(assistantId: string, log: ImportedLog): New<"chats"> {
  const { id, type: channel, createdAt: startedAt, endedReason, recordingUrl, phoneNumber } = log;
  const { messages, userName, userId, anonymousId, externalId, errors } = log;
  const times = messages.flatMap(({ createdAt }) => createdAt ?? []);
  const lastMessageAt = latest([startedAt, ...times]);
  const statusEventId = newId();
  const count = messages.length;
  return {
    ...{ id, assistantId, channel, startedAt, lastMessageAt, phoneNumber },
    ...{ userName, userId, anonymousId, externalId, uniqueId: uniqueIdOf(log) },
    ...{ status: "ended", statusEventId, statusPlaces: { [statusEventId]: count } },
    endedAt: log.endedAt ?? lastMessageAt,
    endedReason: endedReason || IMPORTED,
    ...labelOf(log),
    recordingUrl: recordingUrl || null,
    ...{ workflowId: log.workflowId, workflowNodeId: log.workflowNodeId, deploymentId: log.deploymentId },
    ...{ assistantVersion: log.assistantVersion, runsDraft: log.draft ?? false },
    speakerVersions:
      log.versions &&
      Object.fromEntries(log.versions.map(({ assistantId, number }) => [assistantId, number])),
    metadata: log.metadata ?? {},
    variables: log.variables ?? {},
    errors: (errors ?? []).map(({ at, message }) => ({ at: at.toISOString(), message })),
    messageCount: count,
    answeredSequence: count,
  };
}

/** The columns of the label: the start of the first question is stored as such. */
function labelOf({ label, phoneNumber, messages }: ImportedLog): Pick<New<"chats">, "label" | "firstWords"> {
  const question = messages.find(({ role, content }) => role === "USER" && content?.trim())?.content;
  const firstWords = question == null ? null : labelFrom(question);
  const isOwn = label != null && label !== "" && label !== firstWords && label !== phoneNumber;
  return { label: isOwn ? label : null, firstWords };
}

/** As for a call that this service places, the person is known by userId, else by anonymousId. */
function uniqueIdOf({ uniqueId, phoneNumber, userId, anonymousId }: ImportedLog): string | null {
  const called = phoneNumber ? (userId ?? anonymousId) : null;
  const known = uniqueId || called;
  return known ? indexable(known) : null;
}

function messagesOf(assistantId: string, log: ImportedLog, used: Set<string>): New<"messages">[] {
  return log.messages.map((message, index) => {
    const { role, content, metadata, toolCallId, toolCalls } = message;
    const id = message.id && UUID.test(message.id) && !used.has(message.id) ? message.id : newId();
    used.add(id);
    return {
      ...{ id, chatId: log.id, assistantId, sequence: index + 1, role, content, toolCallId, toolCalls },
      channel: message.channel ?? log.type,
      metadata: metadata ?? {},
      createdAt: message.createdAt ?? log.createdAt,
    };
  });
}

/** Ids of given messages that other messages already have. */
async function usedMessageIds(scope: Scope, logs: readonly ImportedLog[]): Promise<Set<string>> {
  const ids = logs.flatMap(({ messages }) => messages.flatMap(({ id }) => (id && UUID.test(id) ? id : [])));
  const found = await scope.table("messages").select("id").whereIn("id", ids);
  return new Set(found.map(({ id }) => id));
}

const latest = (times: readonly Date[]): Date => times.reduce((last, time) => (time > last ? time : last));
