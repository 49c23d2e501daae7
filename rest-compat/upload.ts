import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import busboy from "busboy";
import { WriteStream } from "fs-capacitor";
import Upload from "graphql-upload/Upload.mjs";
import { withDeclaredTypes } from "../src/http/multipart/declared-types";
import { removeName } from "../src/http/multipart/unnamed-copy";
import { unreadableForm } from "../src/http/errors/unreadable-form";
import { fileLimitMessage, invalid, type Problem } from "../src/platform/errors";
import { mediaType, refuse } from "./body";
import type { RestServer } from "./server";

const MAX_FIELD_BYTES = 1_048_576;
export const MULTIPART_EXPECTED =
  "Unsupported content type. Send a form of type multipart/form-data with the file in the field `file`.";

/** A completely received multipart form. */
export interface Form {
  readonly values: Readonly<Record<string, unknown>>;
  /** Equal for forms with the same content. */
  readonly identity: unknown;
  /** Deletes the temporary copy of the file. */
  release(): void;
}

interface ReceivedFile {
  readonly buffer: WriteStream;
  /** Settles when the copy is complete or has failed. */
  readonly copied: Promise<void>;
  readonly filename: string;
  readonly mimetype: string;
  readonly encoding: string;
  readonly digest: () => string;
}

/**
 * Reads a form with one `file` and an optional `metadata`, a JSON object as text. The file is buffered on disk until
 * it has arrived completely.
 * @throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, BAD_USER_INPUT
 */
export async function readForm(
  req: IncomingMessage,
  { maxFileBytes, lenient }: Pick<RestServer, "maxFileBytes" | "lenient">,
): Promise<Form> {
  if (mediaType(req) !== "multipart/form-data")
    throw refuse(req, "UNSUPPORTED_MEDIA_TYPE", MULTIPART_EXPECTED);
  const tooLarge = () => refuse(req, "PAYLOAD_TOO_LARGE", fileLimitMessage(maxFileBytes));
  if (Number(req.headers["content-length"] ?? 0) > maxFileBytes + 2 * MAX_FIELD_BYTES) throw tooLarge();
  const files: ReceivedFile[] = [];
  const release = () => files.forEach(({ buffer }) => buffer.release());
  try {
    const { fields, problems, cut } = await receive(req, maxFileBytes, files);
    if (cut) throw tooLarge();
    if (!lenient) problems.push(...unknownOf(fields));
    const values: Record<string, unknown> = { ...metadataOf(fields.get("metadata"), problems) };
    if (files.length > 1) problems.push({ path: "file", message: "must be one file" });
    if (fields.has("file")) problems.push({ path: "file", message: "must be a file, with a filename" });
    else if (files.length === 0) problems.push({ path: "file", message: "is required" });
    if (problems.length > 0) throw invalid(problems);
    const [file] = files as [ReceivedFile];
    values.file = uploadOf(file);
    return {
      values,
      identity: [file.filename, file.mimetype, file.digest(), values.metadata ?? null],
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** Reads the form to its end. Only files named `file` are stored. */
async function receive(req: IncomingMessage, fileSize: number, files: ReceivedFile[]) {
  const fields = new Map<string, string>();
  const problems: Problem[] = [];
  let cut = false;
  const parser = open(req, fileSize);
  const source = withDeclaredTypes(req);
  const take = (name: string, value: string, tooLong: boolean) => {
    if (tooLong) problems.push({ path: name, message: "must be at most 1 MiB" });
    if (fields.has(name)) problems.push({ path: name, message: "must be given once" });
    fields.set(name, value);
  };
  await new Promise<void>((resolve, reject) => {
    const broken = (error: Error) => reject(unreadableForm(error.message));
    parser.on("file", (name = "", stream, { filename, mimeType, encoding }) => {
      stream.on("error", broken);
      // Browsers and generated clients send JSON with a content type as a file.
      if (name === "metadata") return readText(stream, (text, tooLong) => take(name, text, tooLong));
      stream.on("limit", () => (cut = true));
      if (name !== "file") {
        problems.push({ path: name, message: "is not a known file: send the file in the field `file`" });
        return stream.resume();
      }
      files.push(bufferFile(stream, { filename: filename ?? "", mimetype: mimeType, encoding }));
    });
    parser.on("field", (name = "", value, { valueTruncated }) => take(name, value, valueTruncated));
    parser.on("error", broken);
    parser.on("close", resolve);
    req.on("aborted", () => broken(new Error("it ended early")));
    source.pipe(parser);
  }).finally(() => source.unpipe(parser).resume());
  await Promise.all(files.map(({ copied }) => copied));
  return { fields, problems, cut };
}

/** Reads a part of a form as text, up to the maximum length of a field. */
function readText(stream: Readable, take: (text: string, tooLong: boolean) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_FIELD_BYTES) chunks.push(chunk);
  });
  stream.on("end", () => take(Buffer.concat(chunks).toString("utf8"), size > MAX_FIELD_BYTES));
}

function open(req: IncomingMessage, fileSize: number) {
  try {
    // busboy also truncates files of exactly the limit, so the limit is one byte higher.
    const limits = { files: 3, fields: 20, fieldSize: MAX_FIELD_BYTES, fileSize: fileSize + 1, parts: 30 };
    return busboy({ headers: req.headers, defParamCharset: "utf8", limits });
  } catch (error) {
    req.resume();
    throw unreadableForm((error as Error).message);
  }
}

function bufferFile(
  stream: Readable,
  about: Pick<ReceivedFile, "filename" | "mimetype" | "encoding">,
): ReceivedFile {
  const buffer = new WriteStream();
  removeName(buffer);
  const hash = createHash("sha256");
  stream.on("data", (chunk: Buffer) => hash.update(chunk));
  const copied = finished(buffer);
  copied.catch(() => stream.unpipe(buffer).resume()); // the rest of the form must still be read
  stream.pipe(buffer);
  return { buffer, copied, ...about, digest: () => hash.digest("base64url") };
}

const unknownOf = (fields: ReadonlyMap<string, string>): Problem[] =>
  [...fields.keys()]
    .filter((name) => name !== "file" && name !== "metadata")
    .map((path) => ({
      path,
      message: "is not a known field: the form has the fields `file` and `metadata`",
    }));

function metadataOf(text: string | undefined, problems: Problem[]): { metadata?: unknown } {
  if (text === undefined || text === "") return {};
  const metadata = parseJson(text);
  if (metadata === null) problems.push({ path: "metadata", message: "must be a text with a JSON object" });
  return { metadata };
}

/** Parses JSON; null if the text is null or invalid. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The file as a value of the Upload scalar. */
function uploadOf({ buffer, filename, mimetype, encoding }: ReceivedFile): Upload {
  const upload = new Upload();
  upload.resolve({
    filename,
    mimetype,
    encoding,
    createReadStream: () => buffer.createReadStream(),
  } as never); // the declared type requires fs-capacitor's own class
  return upload;
}
