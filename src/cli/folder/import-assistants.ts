import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../platform/json/json-object";
import { isObject, objectsIn, textOf } from "../import/source";
import { TargetError } from "../import/target";
import type { Line } from "./format";
import { objectIn, picked, recordsOf, type FolderImport } from "./import-work";
import { missingInDraft, missingInVersion, slotsWithSecret } from "./missing-secrets";

const STORE = `mutation ($input: ImportAssistantInput!) { result: importAssistant(input: $input) { version { number } updatedAt } }`;
const HERE =
  "... on Assistant { updatedAt version { number } toolServers { name url allowedTools } draft { basedOn updatedAt } }";
const TOOL_SERVERS =
  "mutation ($id: ID!, $servers: [ToolServerInput!]!) { updateToolServers(assistantId: $id, servers: $servers) { id } }";
const DRAFT =
  "mutation ($id: ID!, $input: ImportAssistantDraftInput!) { importAssistantDraft(assistantId: $id, input: $input) { basedOn } }";
const VERSIONS =
  "mutation ($id: ID!, $versions: [ImportAssistantVersionInput!]!) { result: importAssistantVersions(assistantId: $id, versions: $versions) { imported existing } }";

const OWN = "id key name description variables missingVariables projectId createdAt updatedAt";
const RAG = "isRagEnabled forceRag ragTriggerTopics preserveRagResult";
const CHANNELS = ["voice", "sms", "chat"] as const;
/** Versions, and bytes of them, per mutation. */
const MOST = { versions: 50, bytes: 4 * 1024 * 1024 };

/** Imports the assistants as they were, then their histories and drafts. */
export async function importAssistants(work: FolderImport): Promise<void> {
  const files = new Set<unknown>();
  for await (const { id } of recordsOf(work, "files")) files.add(id);
  const stored = new Set<string>();
  for await (const record of recordsOf(work, "assistants")) {
    work.progress(`assistants: ${stored.size + 1}`);
    if (!(await importAssistant(work, record, files))) continue;
    stored.add(record.id as string);
  }
  await importVersions(work, stored);
  for await (const record of recordsOf(work, "assistants")) {
    if (!isObject(record.draft)) continue;
    if (stored.has(record.id as string)) await importDraft(work, record, record.draft, files);
    else work.report.refuse("The assistant of this draft was refused.", record.id as string);
  }
}

async function importAssistant(
  work: FolderImport,
  record: Line,
  files: ReadonlySet<unknown>,
): Promise<boolean> {
  const { target, report } = work;
  const id = record.id as string;
  const before = await assistantHere(work, id);
  const answer = await target.store("assistant", id, STORE, { input: inputOf(record, files) });
  if (!answer) return false;
  if (objectsIn(record.files).some((file) => !files.has(file.id)))
    report.note("This assistant names files that are not in the folder: it was imported without them.", id);
  const { version, updatedAt } = answer.result as JsonObject;
  const isSame = before && isDeepStrictEqual([before.version, before.updatedAt], [version, updatedAt]);
  const servers = await importToolServers(work, record, before);
  report[isSame && !servers ? "unchanged" : "stored"]("assistants");
  report[isSame ? "unchanged" : "stored"]("versions"); // the current one, which the assistant brings
  return true;
}

/** An assistant as the target has it; undefined if it has none. */
const assistantHere = async ({ target }: FolderImport, id: string): Promise<JsonObject | undefined> =>
  (await target.nodes([id], HERE))[0];

function inputOf(record: Line, files: ReadonlySet<unknown>): JsonObject {
  const input: JsonObject = picked(record, OWN);
  for (const channel of CHANNELS) {
    const { ...configuration } = objectIn(record, channel);
    input[`${channel}Rag`] = picked(configuration, RAG);
    for (const name of RAG.split(" ")) delete configuration[name];
    input[channel] = configuration;
  }
  const { allowedOrigins, ...theme } = objectIn(record, "theme");
  const fileIds = objectsIn(record.files).flatMap(({ id }) => (files.has(id) ? [id] : []));
  return { ...input, theme, allowedOrigins, fileIds, version: record.version };
}

/** @returns whether the servers were not the same before */
async function importToolServers(
  { target, report }: FolderImport,
  record: Line,
  before: JsonObject | undefined,
): Promise<boolean> {
  const id = record.id as string;
  const servers = objectsIn(record.toolServers).map((server) => picked(server, "name url allowedTools"));
  const isSame = isDeepStrictEqual(servers, objectsIn(before?.toolServers ?? []));
  if (!isSame) await target.store("assistant", id, TOOL_SERVERS, { id, servers });
  for (const { name, headerNames } of objectsIn(record.toolServers))
    if (Array.isArray(headerNames) && headerNames.length > 0)
      report.note(
        `The headers of the tool server ${String(name)}: enter them again with updateToolServers.`,
        id,
      );
  return !isSame;
}

/** Imports the versions before the current ones. */
async function importVersions(work: FolderImport, assistants: ReadonlySet<string>): Promise<void> {
  const current = new Map<unknown, { number: unknown; known: ReadonlySet<string> }>();
  for await (const record of recordsOf(work, "assistants"))
    current.set(record.id, {
      number: isObject(record.version) ? record.version.number : undefined,
      known: slotsWithSecret(record),
    });
  let batch: JsonObject[] = [];
  let [owner, bytes] = ["", 0];
  const send = async () => {
    if (batch.length > 0) await storeVersions(work, owner, batch);
    [batch, bytes] = [[], 0];
  };
  for await (const { assistantId, ...version } of recordsOf(work, "versions")) {
    const id = assistantId as string;
    if (!assistants.has(id)) {
      work.report.refuse("The assistant of this version was refused.", versionName(id, version));
      continue;
    }
    const { number, known } = current.get(id)!; // of a stored assistant
    if (version.number === number) {
      await compareVersions(work, id, [version]); // the assistant has brought it
      continue;
    }
    for (const note of missingInVersion(objectIn(version, "document"), known))
      work.report.note(note, versionName(id, version));
    const size = JSON.stringify(version).length;
    if (id !== owner || batch.length === MOST.versions || bytes + size > MOST.bytes) await send();
    owner = id;
    bytes += size;
    batch.push(picked(version, "number note actor createdAt document"));
  }
  await send();
}

const versionName = (assistantId: string, { number }: JsonObject) =>
  `${assistantId}, version ${String(number)}`;

/** If one of the versions is refused, each is sent alone, so that the others are stored. */
async function storeVersions(work: FolderImport, id: string, versions: readonly JsonObject[]): Promise<void> {
  const { target, report, progress } = work;
  progress(`versions of ${id}: ${String(versions.at(-1)!.number)}`);
  const count = async ({ result }: JsonObject) => {
    const { imported, existing } = result as { imported: number; existing: number[] };
    if (imported > 0) report.stored("versions", imported);
    const here = versions.filter(({ number }) => existing.includes(number as number));
    report.unchanged("versions", await compareVersions(work, id, here));
  };
  try {
    await count(await target.run(VERSIONS, { id, versions: [...versions] }));
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    for (const version of versions) {
      const answer = await target.store("version", versionName(id, version), VERSIONS, {
        id,
        versions: [version],
      });
      if (answer) await count(answer);
    }
  }
}

/** Versions beyond the quota of the target may have been removed there. */
function ifRemoved(error: unknown): JsonObject {
  if (error instanceof TargetError && error.code === "VERSION_NOT_FOUND") return {};
  throw error;
}

/**
 * Refuses the versions whose numbers other ones have here: deployments and logs with these numbers mean another content.
 * @returns how many are the same here
 */
async function compareVersions(
  { target, report }: FolderImport,
  id: string,
  versions: readonly JsonObject[],
): Promise<number> {
  if (versions.length === 0) return 0;
  const fields = versions.map(
    ({ number }) =>
      `v${String(number)}: assistantVersion(assistantId: $id, number: ${String(number)}) { document }`,
  );
  const here = await target.run(`query ($id: ID!) { ${fields.join(" ")} }`, { id }).catch(ifRemoved);
  const others = versions.filter(
    ({ number, document }) => !isDeepStrictEqual(objectIn(here, `v${String(number)}`).document, document),
  );
  for (const version of others)
    report.refuse(
      "Another version has the number of this one here. What refers to it, such as a deployment, now means that one.",
      versionName(id, version),
    );
  return versions.length - others.length;
}

/** Imports what a draft changes: the parts of its document that differ from the assistant. */
async function importDraft(
  work: FolderImport,
  record: Line,
  draft: JsonObject,
  files: ReadonlySet<unknown>,
): Promise<void> {
  const { target, report } = work;
  const id = record.id as string;
  const kept = picked(draft, "basedOn updatedAt");
  for (const note of missingInDraft(objectIn(draft, "document"), slotsWithSecret(record)))
    report.note(note, `${id}, draft`);
  const here = (await assistantHere(work, id))?.draft;
  if (isDeepStrictEqual(here, kept)) return report.unchanged("drafts");
  if (isObject(here) && Date.parse(String(here.updatedAt)) > Date.parse(String(kept.updatedAt))) {
    report.note("The draft of this assistant was changed here later than in the folder: it stays.", id);
    return report.unchanged("drafts");
  }
  const { result } = await target.run(
    "query ($id: ID!) { result: assistant(id: $id) { version { document } } }",
    { id },
  );
  const { document } = objectIn(result as JsonObject, "version");
  const drafted = withKnownFiles(work, id, objectIn(draft, "document"), files);
  const input = { ...changesOf(drafted, document as JsonObject), ...kept };
  if (await target.store("draft", textOf(id)!, DRAFT, { id, input })) report.stored("drafts");
}

/** The document of a draft without files that are deleted. */
function withKnownFiles(
  { report }: FolderImport,
  id: string,
  document: JsonObject,
  files: ReadonlySet<unknown>,
): JsonObject {
  if (!Array.isArray(document.fileIds)) return document;
  const fileIds = (document.fileIds as unknown[]).filter((one) => files.has(one));
  if (fileIds.length < document.fileIds.length)
    report.note("The draft of this assistant names files that are deleted: they were left out.", id);
  return { ...document, fileIds };
}

const IN_DOCUMENT = ["voice", "sms", "chat", "theme", "rag"];

/** The fields of an object that differ from another one. @param parts names of objects that are compared by their fields */
function changesOf(next: JsonObject, base: JsonObject, parts: readonly string[] = IN_DOCUMENT): JsonObject {
  const changed = Object.entries(next).flatMap(([name, value]) => {
    const old = base[name];
    if (isDeepStrictEqual(value, old)) return [];
    const isPart = parts.includes(name) && isObject(value) && isObject(old);
    return [[name, isPart ? changesOf(value, old, name === "rag" ? CHANNELS : []) : value] as const];
  });
  return Object.fromEntries(changed);
}
