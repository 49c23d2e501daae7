import { Readable } from "node:stream";
import { fileTypeFromBuffer } from "file-type";

const SNIFF_BYTES = 4_100;
const MAX_NAME_BYTES = 255;
const UNKNOWN_TYPE = "application/octet-stream";
const ZIP = "application/zip";
const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
/** Larger than the directory of any ordinary document. */
const DIRECTORY_BYTES = 65_536;
/** The start of an HTML document. A comment ends at the first `-->`: else many comments would take exponential time. */
const HTML = /^\s*(<\?xml[^>]*>\s*)?(<!--(?:(?!-->)[^])*-->\s*)*<(!doctype html|html|head|body)\b/i;

/** Characters that browsers and curl encode in the file name of a form: quote, carriage return and line feed. */
const ENCODED = /%(22|0D|0A)/g;

/** A safe file name: without folders and control characters, at most 255 bytes. Keeps the extension. */
export function cleanName(name: string): string {
  const decoded = name.replaceAll(ENCODED, decodeURIComponent);
  const base = decoded.toWellFormed().normalize("NFC").split(/[/\\]/).pop()!;
  // Direction marks could make "gpj.exe" read as "exe.jpg".
  const clean = base.replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "").trim();
  return clean === "" || clean === "." || clean === ".." ? "file" : shortName(clean, MAX_NAME_BYTES);
}

/** A name without the end of its stem if it is too long, in bytes of UTF-8. */
export function shortName(name: string, maxBytes: number): string {
  const extension = /\.[^.]{1,16}$/.exec(name)?.[0] ?? "";
  let stem = name.slice(0, name.length - extension.length);
  while (Buffer.byteLength(stem + extension) > maxBytes) stem = Array.from(stem).slice(0, -1).join("");
  return stem + extension;
}

/** The declared MIME type without parameters, or `application/octet-stream` if it is invalid. */
export function cleanType(type: string): string {
  const [essence = ""] = type.split(";");
  const clean = essence.trim().toLowerCase();
  return /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/.test(clean)
    ? clean
    : UNKNOWN_TYPE;
}

/** Detects the type of a stream from its first bytes. `content` is the whole stream. */
export async function detectType(
  source: Readable,
): Promise<{ content: Readable; /** Known once `content` has been read. */ detectedType: () => string }> {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
  const read: Buffer[] = [];
  for (let size = 0; size < SNIFF_BYTES;) {
    const { done, value } = await chunks.next();
    if (done) break;
    size += value.length;
    read.push(value);
  }
  const type = await typeOf(Buffer.concat(read).subarray(0, SNIFF_BYTES));
  let end: Buffer = Buffer.alloc(0);
  async function* whole() {
    for await (const chunk of both()) {
      if (type === ZIP) end = Buffer.concat([end, chunk]).subarray(-DIRECTORY_BYTES);
      yield chunk;
    }
  }
  async function* both() {
    yield* read;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  const content = Readable.from(whole(), { objectMode: false });
  return { content, detectedType: () => (type === ZIP ? zippedType(end) : type) };
}

async function typeOf(head: Buffer): Promise<string> {
  const known = await fileTypeFromBuffer(head);
  if (known && known.mime !== "application/xml") return known.mime;
  const text = head.toString("utf8");
  // The last character may be incomplete.
  if (head.length > 0 && (head.includes(0) || text.slice(0, -1).includes("\ufffd"))) return UNKNOWN_TYPE;
  return HTML.test(text) ? "text/html" : (known?.mime ?? "text/plain");
}

/** The type of a ZIP file, from the directory at its end: the start of files by some programs does not show it. */
function zippedType(end: Buffer): string {
  return end.includes("[Content_Types].xml") && end.includes("word/document.xml") ? DOCX : ZIP;
}
