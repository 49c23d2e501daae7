import type { JsonObject } from "../../platform/json/json-object";
import { RefusedError } from "./http";
import { timeOf } from "./log-of";
import { isObject, objectsIn, textOf } from "./source";
import { defined, type Import } from "./work";

const STORE =
  "mutation ImportFile($file: Upload!, $input: ImportFileInput!) { importFile(file: $file, input: $input) { id size } }";
const FILES =
  "query Files($page: Int!) { files(order: asc, page: $page, take: 100) { data { id } meta { hasNextPage } } }";

/** Imports the files with their content. Those that are here are not downloaded again. */
export async function importFiles(work: Import): Promise<void> {
  const { source, report, progress } = work;
  const stored = await storedIds(work);
  let count = 0;
  for await (const file of source.list("/rest/v1/files", "file", report)) {
    progress(`Files: ${++count}`);
    const id = textOf(file.id) ?? "";
    if (stored.has(id)) report.unchanged("files");
    else await importFile(work, id, file);
  }
}

async function importFile({ source, target, report, open }: Import, id: string, file: JsonObject) {
  try {
    const { url } = await source.object(`/rest/v1/files/${encodeURIComponent(id)}/download`);
    const size = typeof file.size === "number" ? file.size : undefined;
    const { body: content } = await source.content(url, open, size);
    if (size !== undefined && content.length !== size)
      throw new RefusedError(200, `It has ${content.length} bytes instead of ${size}.`);
    const type = textOf(file.mimeType) ?? "application/octet-stream";
    const sent = { name: textOf(file.name) || "file", type, content };
    const metadata = isObject(file.metadata) ? file.metadata : {};
    const input = defined({ id, metadata, createdAt: timeOf(file.createdAt) });
    if (await target.store("file", id, STORE, { input }, sent)) report.stored("files");
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    report.refuse(`The content of this file was not read: ${error.message}`, id);
  }
}

async function storedIds({ target }: Import): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let page = 1; ; page++) {
    const { files } = await target.run(FILES, { page });
    const { data, meta } = files as JsonObject;
    for (const { id } of objectsIn(data)) ids.add(id as string); // an ID of GraphQL
    if ((meta as JsonObject).hasNextPage !== true) return ids;
  }
}
