import type { Storage } from "../../src/platform/ports/storage";
import { openStorage } from "../../src/platform/providers/open-storage";
import type { Answer, Api } from "./api";
import type { RunningApp } from "./app";
import { configOf } from "./config";
import { filesInS3 } from "./files-in-s3";

/** A file to upload; plain text by default. */
export interface Part {
  readonly content?: string | Uint8Array<ArrayBuffer>;
  readonly name?: string;
  readonly type?: string;
  readonly metadata?: object;
}

/** Uploads by REST. */
export function upload(
  api: Api,
  { content = "hello", name = "a.txt", type = "text/plain", metadata }: Part = {},
) {
  const form = new FormData();
  form.set("file", new Blob([content], { type }), name);
  if (metadata) form.set("metadata", JSON.stringify(metadata));
  return api.post("/rest/v1/files/upload", form, 201);
}

/** Uploads by the GraphQL multipart request specification. */
export function uploadByGraphQL(
  api: Api,
  { content = "hello", name = "a.txt", type = "text/plain", metadata }: Part = {},
): Promise<Answer> {
  const query =
    "mutation ($file: Upload!, $metadata: JSONObject) { uploadFile(file: $file, metadata: $metadata) { id name mimeType detectedType size metadata } }";
  const form = new FormData();
  form.set("operations", JSON.stringify({ query, variables: { file: null, metadata } }));
  form.set("map", JSON.stringify({ 0: ["variables.file"] }));
  form.set("0", new Blob([content], { type }), name);
  return api.request("POST", "/graphql", form);
}

/** One white pixel. */
export const png = Uint8Array.from(
  Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
);

/** The storage that the service of a test uses: its folder, or with `TEST_S3=1` its bucket. */
export const storageOf = ({ app }: RunningApp): Storage => app.database.scope("").ports.storage;

/** Keys of everything in the storage of an organization, or of all of them, without the marker of the installation. */
export async function storedKeys(running: RunningApp, organizationId = ""): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of storageOf(running).list())
    if (key.includes("/") && !key.startsWith("installation") && key.startsWith(organizationId))
      keys.push(key);
  return keys;
}

/** The storage of servers and commands with a DATA_DIR. */
export const storageAt = (dataDir: string): Storage =>
  openStorage(configOf({ ...filesInS3({ DATA_DIR: dataDir }), DATA_DIR: dataDir }));

/** Copies the files of servers with a DATA_DIR to that of other servers. */
export async function copyFiles(from: string, to: string): Promise<void> {
  const [source, target] = [storageAt(from), storageAt(to)];
  for await (const { key } of source.list()) await target.put(key, await source.get(key));
}
