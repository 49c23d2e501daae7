import { hash } from "node:crypto";
import { namedTools } from "../../conversation/functions/server-tools";
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

interface AssistantPage {
  readonly assistants: {
    readonly data: readonly (Fields & {
      readonly id: string;
      readonly key: string | null;
      readonly name: string;
      readonly version: { readonly number: number };
      readonly draft: { readonly basedOn: number } | null;
      readonly files: readonly { readonly id: string }[];
      readonly toolServers: Parameters<typeof namedTools>[0]["toolServers"];
    })[];
    readonly meta: { readonly hasNextPage: boolean };
  };
}

const PAGE = 20;

/** Reads all assistants, oldest first. @throws RequestError */
export async function readAssistants(
  reading: Reading,
  projects: readonly { readonly id: string; readonly name: string }[],
): Promise<RemoteRecord[]> {
  const { connection, schemas } = reading;
  const projectOf = new Map<string, string>();
  for (const { id, name } of projects)
    for (const assistant of await pages(connection, "id key", { projectId: id }))
      projectOf.set(assistant.id, name);
  // An older server lacks the setting.
  const properties = schemas.assistant as { readonly properties: Fields };
  const setting = "missingVariables" in properties.properties ? "missingVariables" : "";
  const own = `id key ${setting} version { number } draft { basedOn } files { id } toolServers { name allowedTools } ${selectionOf(schemas)}`;
  const rows = await pages(connection, own, {});
  const records: RemoteRecord[] = [];
  for (const row of rows) {
    const { id, key, name, version, draft, missingVariables } = row;
    const fields = {
      key,
      ...documentOf(row, schemas),
      ...(missingVariables !== undefined && { missingVariables }),
      project: projectOf.get(id) ?? null,
      files: await filesOf(reading, row.files),
    };
    const numbers = { version: version.number, ...(draft && { draft: draft.basedOn }) };
    records.push({ kind: "assistant", id, key, label: name, fields, tools: namedTools(row), ...numbers });
  }
  return records;
}

async function pages(connection: Connection, selection: string, filter: Fields) {
  const found: AssistantPage["assistants"]["data"][number][] = [];
  const query = `query ($page: Int, $take: Int, $projectId: ID) {
    assistants(order: asc, page: $page, take: $take${"projectId" in filter ? ", projectId: $projectId" : ""}) {
      data { ${selection} } meta { hasNextPage } } }`;
  for (let page = 1; ; page++) {
    const { assistants } = await connection.graphql<AssistantPage>(
      "projectId" in filter ? query : query.replace(", $projectId: ID", ""),
      { page, take: PAGE, ...filter },
    );
    found.push(...assistants.data);
    if (!assistants.meta.hasNextPage) return found;
  }
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
