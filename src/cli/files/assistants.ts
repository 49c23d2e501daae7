import { hash } from "node:crypto";
import { namedTools } from "../../conversation/functions/server-tools";
import { readOfOneVersion } from "../import/read-of-one-version";
import { change, create, documentOf, selectionOf } from "./assistant-document";
import { about, RequestError, type Connection } from "./connection";
import type { Fields, KnowledgeFile } from "./kinds";
import type { Reading, RemoteRecord } from "./remote";

/** An attached file, as the server has it. */
interface AttachedFile extends KnowledgeFile {
  readonly id: string;
}

interface FileRow {
  readonly id: string;
  readonly name: string;
  readonly metadata: { readonly sha256?: unknown };
}

interface AssistantRow extends Fields {
  readonly id: string;
  readonly key: string | null;
  readonly name: string;
  readonly draft: { readonly basedOn: number } | null;
  readonly files: readonly { readonly id: string }[];
  readonly toolServers: Parameters<typeof namedTools>[0]["toolServers"];
}

/** Assistants per request: their prompts may be long. */
const AT_ONCE = 20;
/** Ids that a request may name. */
const MOST_IDS = 100;

/** Reads all assistants, oldest first. @throws RequestError */
export async function readAssistants(
  reading: Reading,
  projects: readonly { readonly id: string; readonly name: string }[],
): Promise<RemoteRecord[]> {
  const { connection, schemas } = reading;
  const projectOf = new Map<string, string>();
  for (const { id: projectId, name } of projects)
    for (const id of await idsOf(connection, { projectId })) projectOf.set(id, name);
  // An older server lacks the setting.
  const properties = schemas.assistant as { readonly properties: Fields };
  const setting = "missingVariables" in properties.properties ? "missingVariables" : "";
  const own = `id key ${setting} draft { basedOn } files { id } toolServers { name allowedTools } ${selectionOf(schemas)}`;
  const rows = await readOfOneVersion(await idsOf(connection, {}), {
    versionsOf: async (ids) => {
      const read = await nodesOf<VersionRow>(connection, ids, VERSION, MOST_IDS);
      return new Map(read.map(({ id, version }) => [id, version.number]));
    },
    read: (ids) => nodesOf<AssistantRow>(connection, ids, own, AT_ONCE),
  });
  const records: RemoteRecord[] = [];
  for (const { record: row, version } of rows) {
    const { id, key, name, draft, missingVariables } = row;
    const fields = {
      key,
      ...documentOf(row, schemas),
      ...(missingVariables !== undefined && { missingVariables }),
      project: projectOf.get(id) ?? null,
      files: await filesOf(reading, row.files),
    };
    const numbers = { version, ...(draft && { draft: draft.basedOn }) };
    records.push({ kind: "assistant", id, key, label: name, fields, tools: namedTools(row), ...numbers });
  }
  return records;
}

interface VersionRow {
  readonly id: string;
  readonly version: { readonly number: number };
}

const VERSION = "id version { number }";

/** The ids of assistants, oldest first. */
async function idsOf(connection: Connection, filter: { readonly projectId?: string }): Promise<string[]> {
  const found: string[] = [];
  // An older server lacks the argument, so only a search by project names it.
  const isOfProject = filter.projectId !== undefined;
  const query = `query ($page: Int${isOfProject ? ", $projectId: ID" : ""}) {
    assistants(order: asc, page: $page, take: ${MOST_IDS}${isOfProject ? ", projectId: $projectId" : ""}) {
      data { id } meta { hasNextPage } } }`;
  for (let page = 1; ; page++) {
    const { assistants } = await connection.graphql<{
      assistants: { data: readonly { id: string }[]; meta: { hasNextPage: boolean } };
    }>(query, { page, ...filter });
    found.push(...assistants.data.map(({ id }) => id));
    if (!assistants.meta.hasNextPage) return found;
  }
}

/** Assistants by their ids, in this order. @param atOnce assistants per request */
async function nodesOf<R>(
  connection: Connection,
  ids: readonly string[],
  selection: string,
  atOnce: number,
): Promise<R[]> {
  const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Assistant { ${selection} } } }`;
  const found: R[] = [];
  for (let at = 0; at < ids.length; at += atOnce) {
    const asked = ids.slice(at, at + atOnce);
    const { nodes } = await connection.graphql<{ nodes: readonly (R | null)[] }>(query, { ids: asked });
    found.push(...nodes.filter((node) => node !== null));
  }
  return found;
}

/** The attached files. The content of those without a digest is downloaded, if it matters. */
async function filesOf(
  { connection, files: wanted }: Reading,
  attached: readonly { readonly id: string }[],
): Promise<AttachedFile[]> {
  if (attached.length === 0) return [];
  const query = "query ($ids: [ID!]!) { nodes(ids: $ids) { ... on File { id name metadata } } }";
  const { nodes } = await connection.graphql<{ nodes: readonly (FileRow | null)[] }>(query, {
    ids: attached.map(({ id }) => id),
  });
  const rows = nodes.filter((node) => node !== null);
  return Promise.all(
    rows.map(async ({ id, name, metadata: { sha256 } }) => {
      const content = async () => {
        const link = "query ($id: ID!) { fileDownload(id: $id) { url } }";
        const { fileDownload } = await connection.graphql<{ fileDownload: { url: string } }>(link, { id });
        return connection.download(fileDownload.url);
      };
      const known = typeof sha256 === "string" ? sha256 : undefined;
      const isNeeded = known === undefined && (wanted === undefined || wanted.has(name));
      const digest = isNeeded ? hash("sha256", await content(), "hex") : (known ?? "");
      return { id, name, digest, content };
    }),
  );
}

/** Creates an assistant. @returns its id. @throws RequestError */
export async function createAssistant(
  connection: Connection,
  { key, projectId, missingVariables, files, ...document }: Fields,
): Promise<string> {
  const input = { key, projectId, missingVariables, name: document.name };
  return withFiles(connection, files, [], (fileIds) => create(connection, input, { ...document, fileIds }));
}

/**
 * Changes an assistant.
 * @param changed the fields to change, whole
 * @param remote the assistant so far
 * @throws RequestError
 */
export async function updateAssistant(
  connection: Connection,
  { id, fields, version }: RemoteRecord,
  changed: Fields,
): Promise<void> {
  const { projectId, missingVariables, files, ...document } = changed;
  const attached = fields.files as readonly AttachedFile[];
  await withFiles(connection, files, attached, (fileIds) =>
    change(connection, id, { ...document, fileIds }, { projectId, missingVariables }, version),
  );
}

const isSame = (one: KnowledgeFile) => (other: KnowledgeFile) =>
  one.name === other.name && one.digest === other.digest;

/**
 * Attaches files, which are uploaded if they are not stored yet. If the server refuses that, it keeps no new upload.
 * @param files of the YAML file; undefined if it leaves them out
 */
async function withFiles<T>(
  connection: Connection,
  files: unknown,
  attached: readonly AttachedFile[],
  attach: (ids: readonly string[] | undefined) => Promise<T>,
): Promise<T> {
  const uploaded: string[] = [];
  try {
    const ids: string[] = [];
    for (const [index, file] of ((files ?? []) as readonly KnowledgeFile[]).entries())
      ids.push(
        attached.find(isSame(file))?.id ??
          (await about(["files", index], () => stored(connection, file, uploaded))),
      );
    return await attach(files === undefined ? undefined : ids);
  } catch (error) {
    // Without an answer, the files may be attached.
    if (error instanceof RequestError && error.isRefusal)
      for (const id of uploaded) await connection.graphql(DELETE_FILE, { id });
    throw error;
  }
}

const DELETE_FILE = "mutation ($id: ID!) { deleteFile(id: $id) { id } }";

/**
 * Uploads a file, unless an upload of an earlier run has its name and content.
 * @param uploaded gets the id of a new upload
 * @returns its id
 */
async function stored(connection: Connection, file: KnowledgeFile, uploaded: string[]): Promise<string> {
  const query = "query ($name: String!) { files(name: $name, take: 100) { data { id name metadata } } }";
  const { files } = await connection.graphql<{ files: { data: readonly FileRow[] } }>(query, {
    name: file.name,
  });
  const known = files.data.find(
    ({ name, metadata }) => name === file.name && metadata.sha256 === file.digest,
  );
  if (known) return known.id;
  const id = await connection.upload(file.name, await file.content(), { sha256: file.digest });
  uploaded.push(id);
  return id;
}
