import type { IncomingMessage } from "node:http";
import { pipeline, Transform, type TransformCallback } from "node:stream";
import { parseContentType, parseDisposition } from "busboy/lib/utils.js";

const HEADERS_END = "\r\n\r\n";
/** busboy refuses a part with longer headers. */
const MOST_HEADER_BYTES = 16_384;
const UNKNOWN = "application/octet-stream";
/**
 * A form in which each file declares a type that can be read: busboy takes one without for plain text, which many
 * programs send for any file whose type they do not know.
 */
export function withDeclaredTypes(form: IncomingMessage): IncomingMessage {
  const { headers } = form;
  const boundary = boundaryIn(headers["content-type"] ?? "");
  const typed = pipeline(form, new DeclaredTypes(boundary), () => undefined);
  return Object.assign(typed, { headers }) as unknown as IncomingMessage; // what parsers of forms ask of one
}

/** Puts a Content-Type before the headers of each file, where it is the one that counts. */
class DeclaredTypes extends Transform {
  private readonly delimiter: string;
  /** What may be the beginning of more; at first as though a line had ended before the form. */
  private held = Buffer.from("\r\n");
  private inHeaders = false;

  constructor(boundary: string) {
    super();
    this.delimiter = `\r\n--${boundary}\r\n`;
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.held = Buffer.concat([this.held, chunk]);
    while (this.inHeaders ? this.readHeaders() : this.readContent());
    done();
  }

  override _flush(done: TransformCallback): void {
    done(null, this.held);
  }

  /** Returns whether there may be more to read. */
  private readContent(): boolean {
    const at = this.held.indexOf(this.delimiter);
    this.inHeaders = at >= 0;
    const known = this.inHeaders ? at + this.delimiter.length : this.held.length - this.delimiter.length;
    this.pass(known);
    return this.inHeaders;
  }

  private readHeaders(): boolean {
    const end = this.held.subarray(0, MOST_HEADER_BYTES).indexOf(HEADERS_END);
    if (end < 0 && this.held.length < MOST_HEADER_BYTES) return false;
    this.inHeaders = false;
    if (end >= 0) {
      const type = missingType(this.held.toString("latin1", 0, end));
      if (type !== undefined) this.push(`Content-Type: ${type}\r\n`);
    } else this.pass(MOST_HEADER_BYTES - this.delimiter.length); // busboy refuses the part: read no byte of it twice
    return true;
  }

  private pass(length: number): void {
    if (length <= 0) return;
    this.push(this.held.subarray(0, length));
    this.held = this.held.subarray(length);
  }
}

const WHITE = [" ", "\t"];

/** The type to declare for a part; undefined for one that is no file. */
function missingType(headers: string): string | undefined {
  const unfolded = WHITE.reduce((text, white) => text.replaceAll(`\r\n${white}`, " "), headers);
  const fields = unfolded.split("\r\n").map((line): [string, string] => {
    const [name = ""] = line.split(":", 1);
    return [name.toLowerCase(), line.slice(name.length + 1).trim()];
  });
  const valueOf = (name: string) => fields.find(([one]) => one === name)?.[1] ?? "";
  const { params } = parseDisposition(valueOf("content-disposition"), (text) => text) ?? {};
  if (params?.filename === undefined && params?.["filename*"] === undefined) return undefined;
  const [type = ""] = valueOf("content-type").split(";", 1); // a parameter that can't be read changes no type
  const declared = parseContentType(type);
  return declared ? `${declared.type}/${declared.subtype}` : UNKNOWN;
}

/** What stands between the parts of a form. */
function boundaryIn(contentType: string): string {
  const [, ...parameters] = contentType.split(";").map((parameter) => parameter.trim());
  const named = parameters.find((parameter) => parameter.toLowerCase().startsWith("boundary="));
  const [, quoted, plain] = /^.{9}(?:"([^"]+)"|([^\s"]+))/.exec(named ?? "") ?? [];
  return quoted ?? plain ?? "";
}
