import { readFileSync } from "node:fs";
import { currentDate } from "../../platform/clock";
import type { JsonObject } from "../../platform/json/json-object";
import { isObject, objectsIn } from "../import/source";
import { LogBatch } from "../import/rest-logs";
import { TargetError, type Target } from "../import/target";
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

/** Fails if the assistant was never here: a deleted one has logs, too. */
const ASSISTANT =
  "query ($assistantId: ID!) { logs(first: 1, filter: { assistantId: $assistantId }) { nodes { id } } }";
const LOG =
  "id type createdAt label endedAt endedReason recordingUrl phoneNumber uniqueId variables workflowId workflowNodeId deploymentId assistantVersion versions draft";
const CALL = "kind createdAt dialedAt answeredAt";
const PERSON = "userName userId anonymousId externalId";
const MESSAGE = "id role channel content metadata toolCallId toolCalls createdAt";
/** Logs that are looked for at once, and bytes of them. */
const AT_ONCE = { logs: 100, bytes: 8 * 1024 * 1024 };
/** Bytes of logs that wait to be stored together with others of their assistants. */
const MOST_WAITING = 32 * 1024 * 1024;

/** Imports the logs that are not here yet. @param assistants ids of those that the folder has */
export async function importLogs(work: FolderImport, assistants: ReadonlySet<string>): Promise<void> {
  const batches = new LogBatches(work, assistants);
  let records: Line[] = [];
  let [count, bytes] = [0, 0];
  const add = async () => {
    if (records.length > 0) await batches.add(records, bytes);
    [records, bytes] = [[], 0];
  };
  for await (const record of recordsOf(work, "logs")) {
    work.progress(`logs: ${++count}`);
    records.push(record);
    bytes += JSON.stringify(record).length;
    if (records.length === AT_ONCE.logs || bytes > AT_ONCE.bytes) await add();
  }
  await add();
  await batches.send();
}

/** Logs that wait to be stored, by their assistants. */
class LogBatches {
  /** Undefined for an assistant that was refused. */
  private readonly batches = new Map<string, LogBatch | undefined>();
  private waiting = 0;

  constructor(
    private readonly work: FolderImport,
    private readonly assistants: ReadonlySet<string>,
  ) {}

  /** Adds the logs that are not here. */
  async add(records: readonly Line[], bytes: number): Promise<void> {
    const { target, report } = this.work;
    const ids = records.map(({ id }) => id as string);
    const here = new Set((await target.nodes(ids, "... on Chat { id }")).map(({ id }) => id));
    for (const record of records) {
      if (here.has(record.id)) report.unchanged("logs");
      else await this.addLog(record);
    }
    this.waiting += bytes;
    if (this.waiting > MOST_WAITING) await this.send();
  }

  async send(): Promise<void> {
    for (const batch of this.batches.values()) await batch?.send();
    this.waiting = 0;
  }

  private async addLog(record: Line): Promise<void> {
    const assistantId = record.assistantId as string;
    if (!this.batches.has(assistantId)) {
      const isHere = await hasAssistant(this.work, record, this.assistants);
      this.batches.set(assistantId, isHere ? new LogBatch(this.work, assistantId) : undefined);
    }
    const batch = this.batches.get(assistantId);
    if (!batch) return this.work.report.refuse("The assistant of this log was refused.", record.id as string);
    const input = inputOf(this.work, record);
    if (input) await batch.add(input);
  }
}

/** Whether an assistant is here, or was and is deleted. */
async function isAssistantHere(target: Target, assistantId: unknown): Promise<boolean> {
  try {
    await target.run(ASSISTANT, { assistantId });
    return true;
  } catch (error) {
    if (error instanceof TargetError && error.code === "ASSISTANT_NOT_FOUND") return false;
    throw error;
  }
}

/** Notes the only version of an assistant that is made for its logs, and is deleted at once. */
const DELETED = "Imported for its logs: deleted at the source";
const CREATE = "mutation ($input: ImportAssistantInput!) { importAssistant(input: $input) { id } }";

/** Whether the assistant of a log is here. Makes that of logs that are older than its deletion, and deletes it. */
async function hasAssistant(
  { target }: FolderImport,
  { assistantId, assistantName }: Line,
  assistants: ReadonlySet<string>,
): Promise<boolean> {
  const id = String(assistantId);
  const isHere = await isAssistantHere(target, id);
  if (assistants.has(id)) return isHere;
  if (!isHere) {
    const version = { number: 1, note: DELETED, actor: "operator", createdAt: currentDate() };
    const input = { id, name: assistantName, version };
    if (!(await target.store("assistant", id, CREATE, { input }))) return false;
  }
  // An import that was killed may have made it, and not deleted it.
  const [live] = await target.nodes([id], "... on Assistant { version { note } }");
  if (isObject(live?.version) && live.version.note === DELETED)
    await target.run("mutation ($id: ID!) { deleteAssistant(id: $id) { id } }", { id });
  return true;
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

const STORE_FACTS =
  "mutation ($uniqueId: String!, $facts: [ImportEndUserFactInput!]!) { importEndUserFacts(uniqueId: $uniqueId, facts: $facts) { imported } }";
const FACTS_AT_ONCE = 100;

/** Imports what assistants remember of people. @param assistants ids of those that the folder has */
export async function importEndUsers(work: FolderImport, assistants: ReadonlySet<string>): Promise<void> {
  const here = new Map<unknown, Promise<boolean>>();
  const isHere = ({ assistantId }: JsonObject) => {
    if (!here.has(assistantId)) here.set(assistantId, isAssistantHere(work.target, assistantId));
    return here.get(assistantId)!;
  };
  let count = 0;
  for await (const record of recordsOf(work, "end users")) {
    work.progress(`end users: ${++count}`);
    const known = importable(work, record);
    const facts: JsonObject[] = [];
    for (const fact of known) if (await isHere(fact)) facts.push(fact);
    if (facts.length < known.length)
      work.report.note(
        assistants.has(String(known.find((fact) => !facts.includes(fact))!.assistantId))
          ? "Facts about this person were left out, because the assistant that remembers them was refused."
          : "Facts about this person were left out, because the assistant that remembers them was deleted.",
        String(record.uniqueId),
      );
    if (facts.length > 0) await storeFacts(work, String(record.uniqueId), facts);
  }
}

async function storeFacts(
  { target, report }: FolderImport,
  uniqueId: string,
  facts: readonly JsonObject[],
): Promise<void> {
  let imported = 0;
  for (let from = 0; from < facts.length; from += FACTS_AT_ONCE) {
    const variables = { uniqueId, facts: facts.slice(from, from + FACTS_AT_ONCE) };
    const answer = await target.store("end user", uniqueId, STORE_FACTS, variables);
    if (!answer) return; // the report lists the person
    imported += (answer.importEndUserFacts as JsonObject).imported as number;
  }
  report[imported > 0 ? "stored" : "unchanged"]("end users");
}

/** The facts of a person that may be imported. */
function importable({ report }: FolderImport, { uniqueId, facts }: Line): JsonObject[] {
  const all = objectsIn(facts);
  const known = all.filter(({ signed }) => typeof signed === "boolean");
  if (known.length < all.length)
    report.note(
      "Facts about this person were left out, because the folder does not show whether they come from conversations with a signed id.",
      String(uniqueId),
    );
  return known.map((fact) => picked(fact, "assistantId text signed createdAt"));
}
