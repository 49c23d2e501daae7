import { readFileSync } from "node:fs";
import type { JsonObject } from "../../platform/json/json-object";
import { isObject, objectsIn } from "../import/source";
import { LogBatch, storedLogIds } from "../import/rest-logs";
import { TargetError } from "../import/target";
import { contentOf } from "./check-folder";
import type { Line } from "./format";
import { picked, recordsOf, type FolderImport } from "./import-work";

const STORE_FILE =
  "mutation ($file: Upload!, $input: ImportFileInput!) { importFile(file: $file, input: $input) { id size } }";

/** Imports the files that are not here yet. */
export async function importFiles(work: FolderImport): Promise<void> {
  const { folder, target, report, progress } = work;
  let count = 0;
  for await (const record of recordsOf(work, "files")) {
    progress(`files: ${++count}`);
    const id = record.id as string;
    if (await isHere(work, id)) {
      report.unchanged("files");
      continue;
    }
    const content = readFileSync(contentOf(folder, record.content)!); // checkFolder has found it
    const sent = { name: String(record.name), type: String(record.mimeType), content };
    const input = picked(record, "id metadata createdAt");
    if (await target.store("file", id, STORE_FILE, { input }, sent)) report.stored("files");
  }
}

async function isHere({ target }: FolderImport, id: string): Promise<boolean> {
  try {
    return (await target.run("query ($id: ID!) { file(id: $id) { id } }", { id })).file !== null;
  } catch (error) {
    if (error instanceof TargetError && error.code === "FILE_NOT_FOUND") return false;
    throw error;
  }
}

const LOG =
  "id type createdAt label endedAt endedReason recordingUrl phoneNumber uniqueId variables workflowId workflowNodeId deploymentId assistantVersion draft";
const CALL = "kind createdAt dialedAt answeredAt";
const PERSON = "userName userId anonymousId externalId";
const MESSAGE = "id role channel content metadata toolCallId toolCalls createdAt";
/** Bytes of logs that wait to be stored together. */
const MOST_WAITING = 32 * 1024 * 1024;

/** Imports the logs that are not here yet. @param assistants ids of those that the folder has */
export async function importLogs(work: FolderImport, assistants: ReadonlySet<string>): Promise<void> {
  const { report, progress } = work;
  const owners = new Map<string, { readonly stored: ReadonlySet<string>; readonly batch: LogBatch }>();
  let [count, waiting] = [0, 0];
  const sendAll = async () => {
    for (const { batch } of owners.values()) await batch.send();
    waiting = 0;
  };
  for await (const record of recordsOf(work, "logs")) {
    progress(`logs: ${++count}`);
    const assistantId = record.assistantId as string;
    if (!owners.has(assistantId)) {
      const stored = await logsOf(work, record, assistants);
      if (!stored) continue;
      owners.set(assistantId, { stored, batch: new LogBatch(work, assistantId) });
    }
    const { stored, batch } = owners.get(assistantId)!;
    const input = stored.has(record.id as string) ? undefined : inputOf(work, record);
    if (stored.has(record.id as string)) report.unchanged("logs");
    if (!input) continue;
    await batch.add(input);
    waiting += JSON.stringify(input).length;
    if (waiting > MOST_WAITING) await sendAll();
  }
  await sendAll();
}

/** The ids of an assistant's logs that are here. Makes the assistant of logs that are older than its deletion, and deletes it. */
async function logsOf(
  work: FolderImport,
  { id, assistantId, assistantName }: Line,
  assistants: ReadonlySet<string>,
): Promise<ReadonlySet<string> | undefined> {
  const { target, report } = work;
  try {
    return await storedLogIds(work, String(assistantId));
  } catch (error) {
    if (!(error instanceof TargetError) || error.code !== "ASSISTANT_NOT_FOUND") throw error;
  }
  if (assistants.has(String(assistantId))) {
    report.refuse("The assistant of this log was refused, and its logs with it.", String(id));
    return undefined;
  }
  const input = { id: assistantId, name: assistantName };
  const create = "mutation ($input: ImportAssistantInput!) { importAssistant(input: $input) { id } }";
  if (!(await target.store("assistant", String(assistantId), create, { input }))) return undefined;
  await target.run("mutation ($id: ID!) { deleteAssistant(id: $id) { id } }", { id: assistantId });
  return new Set();
}

/** @returns undefined for a conversation that was live */
function inputOf({ report }: FolderImport, record: Line): JsonObject | undefined {
  const id = String(record.id);
  if (record.status !== "ended") {
    report.note(
      "This conversation was live at the time of the export: export into a new folder after it has ended, and import that.",
      id,
    );
    return undefined;
  }
  const customer = { ...(record.customerMetadata as JsonObject) };
  const person = picked(customer, PERSON);
  for (const name of Object.keys(person)) if (typeof person[name] === "string") delete customer[name];
  if (customer.uniqueId === record.uniqueId) delete customer.uniqueId;
  if (record.recordingUrl)
    report.note("The recording of this log stays at its address, and ends with it.", id);
  const { errors } = record.metadata as JsonObject;
  return {
    ...picked(record, LOG),
    ...Object.fromEntries(Object.entries(person).filter(([, value]) => typeof value === "string")),
    ...{ metadata: customer, messages: objectsIn(record.messages).map((one) => picked(one, MESSAGE)) },
    ...(isObject(record.call) && { call: picked(record.call, CALL) }),
    ...(Array.isArray(errors) && { errors: objectsIn(errors).map((one) => picked(one, "at message")) }),
  };
}
