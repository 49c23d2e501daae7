import type { Answer, Api } from "./api";

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
