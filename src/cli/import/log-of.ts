import type { JsonObject } from "../../platform/json/json-object";
import { isObject, objectsIn, textOf } from "./source";
import { defined } from "./work";

const LIVE = new Set(["queued", "ringing", "in-progress", "forwarding"]);
const CHANNELS = new Set(["VOICE", "TEXT", "SMS"]);
/** Fields of `metadata` that a log has here; `durationSeconds` and `messageCount` follow from the others. */
const METADATA = new Set([
  ...["status", "startedAt", "endedAt", "endedReason", "durationSeconds", "phoneNumber", "messageCount"],
  "errors",
]);
const PERSON = ["userName", "userId", "anonymousId", "externalId", "uniqueId"] as const;
/** Roles of messages by the names that services give them. */
const ROLES: Readonly<Record<string, string>> = {
  ...{ assistant: "ASSISTANT", bot: "ASSISTANT", ai: "ASSISTANT", agent: "ASSISTANT" },
  ...{ user: "USER", human: "USER", customer: "USER", system: "SYSTEM" },
  ...{ tool: "TOOL", function: "TOOL" },
};
const KNOWN = new Set([
  ...["id", "sequence", "role", "channel", "content", "text", "metadata"],
  ...["toolCallId", "toolCalls", "createdAt"],
]);

export interface MappedLog {
  /** Undefined if the log cannot be imported, at least not now. */
  readonly input?: JsonObject;
  readonly problems: readonly string[];
}

/** A log of the source as an input of `importLogs`. @param item the log in the list, which has its label */
export function logOf(item: JsonObject, log: JsonObject): MappedLog {
  const metadata = isObject(log.metadata) ? log.metadata : {};
  const type = textOf(log.type ?? item.type) ?? "";
  const createdAt = timeOf(log.createdAt ?? item.createdAt) ?? timeOf(metadata.startedAt);
  if (LIVE.has(textOf(metadata.status) ?? ""))
    return {
      problems: ["This conversation is live at the source: import again after it has ended."],
    };
  if (!CHANNELS.has(type) || createdAt === undefined)
    return { problems: ["This log has no type or no time that can be read."] };
  const problems: string[] = [];
  const messages = messagesIn(log.messages, problems);
  for (const name of Object.keys(metadata))
    if (!METADATA.has(name)) problems.push(`metadata.${name} of logs has no place here.`);
  const { person, rest } = customerOf(log.customerMetadata);
  if (log.customerMetadata != null && !isObject(log.customerMetadata))
    problems.push("customerMetadata of this log is no object: it is left out.");
  const errors = errorsIn(metadata.errors, problems);
  const endedAt = timeOf(metadata.endedAt);
  if (endedAt === undefined && metadata.endedAt != null)
    problems.push("The end of this log is no time that can be read: it is that of its last message.");
  const input = {
    ...{ id: textOf(item.id), type, createdAt, messages, metadata: rest, ...person },
    label: textOf(item.label),
    endedAt,
    endedReason: textOf(metadata.endedReason),
    phoneNumber: textOf(metadata.phoneNumber),
    recordingUrl: textOf(log.recordingUrl),
    ...(errors.length > 0 && { errors }),
  };
  return { input, problems };
}

/** Metadata of the client: identifiers of the person apart from the rest. */
function customerOf(value: unknown): { person: JsonObject; rest: JsonObject } {
  const rest = isObject(value) ? { ...value } : {};
  const person: JsonObject = {};
  for (const name of PERSON)
    if (typeof rest[name] === "string") {
      person[name] = rest[name];
      delete rest[name];
    }
  return { person, rest };
}

/** The errors of a log that have a time and a text. */
function errorsIn(value: unknown, problems: string[]): JsonObject[] {
  const given = Array.isArray(value) ? (value as unknown[]) : [];
  const errors = objectsIn(given).flatMap(({ at, message }) =>
    timeOf(at) !== undefined && typeof message === "string" ? [{ at: timeOf(at), message }] : [],
  );
  if (errors.length < given.length || (value != null && !Array.isArray(value)))
    problems.push("An error of this log has no time or no text that can be read: it is left out.");
  return errors;
}

/** The messages of a log: a list, or an object with one. */
function messagesIn(value: unknown, problems: string[]): JsonObject[] {
  const list = Array.isArray(value) ? value : isObject(value) ? Object.values(value).find(Array.isArray) : [];
  if (list !== undefined) return (list as unknown[]).map((item) => messageOf(item, problems));
  if (Object.keys(value as JsonObject).length === 0) return [];
  problems.push(
    "The messages of this log have an unknown form: they are stored as one SYSTEM message in JSON.",
  );
  return [{ role: "SYSTEM", content: JSON.stringify(value) }];
}

function messageOf(item: unknown, problems: string[]): JsonObject {
  const role = isObject(item) ? ROLES[(textOf(item.role) ?? "").toLowerCase()] : undefined;
  if (!isObject(item) || role === undefined) {
    problems.push("Messages of unknown form are stored as SYSTEM messages in JSON.");
    return { role: "SYSTEM", content: JSON.stringify(item) };
  }
  const others = Object.entries(item).filter(([name]) => !KNOWN.has(name));
  const metadata = { ...(isObject(item.metadata) && item.metadata), ...Object.fromEntries(others) };
  const content = item.content ?? item.text;
  const channel = textOf(item.channel);
  return {
    ...{ id: textOf(item.id), role, metadata, createdAt: timeOf(item.createdAt) },
    ...(channel !== undefined && CHANNELS.has(channel) && { channel }),
    content: content == null || typeof content === "string" ? content : JSON.stringify(content),
    toolCallId: textOf(item.toolCallId),
    ...(Array.isArray(item.toolCalls) && { toolCalls: objectsIn(item.toolCalls) }),
  };
}

/** A time as ISO 8601; undefined if it is none. */
export function timeOf(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** The times of a record that the source shows. */
export const timesIn = ({ createdAt, updatedAt }: JsonObject): JsonObject =>
  defined({ createdAt: timeOf(createdAt), updatedAt: timeOf(updatedAt) });
