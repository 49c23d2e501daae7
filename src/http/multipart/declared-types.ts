import type { IncomingMessage } from "node:http";
import { pipeline, Transform, type TransformCallback } from "node:stream";
import { parseContentType, parseDisposition } from "busboy/lib/utils.js";

const HEADERS_END = "\r\n\r\n";
/** busboy refuses a part with longer headers. */
const MAX_HEADER_BYTES = 16_384;
const UNKNOWN = "application/octet-stream";
/**
 * Wraps a form so that each file part declares a valid Content-Type. busboy treats a part without one as plain text,
 * and many clients omit it for files of unknown type.
 */
export function withDeclaredTypes(form: IncomingMessage): IncomingMessage {
  const { headers } = form;
  const boundary = boundaryIn(headers["content-type"] ?? "");
  const typed = pipeline(form, new DeclaredTypes(boundary), () => undefined);
  return Object.assign(typed, { headers }) as unknown as IncomingMessage; // form parsers need only the stream and its headers
}

/** Inserts a Content-Type before the headers of each file part, where it takes precedence. */
class DeclaredTypes extends Transform {
  private readonly delimiter: string;
  /**
   * Bytes not yet passed on, because a delimiter may start in them. Starts with a line break, as if one preceded the
   * form.
   */
  private pending = Buffer.from("\r\n");
  private inHeaders = false;

  constructor(boundary: string) {
    super();
    this.delimiter = `\r\n--${boundary}\r\n`;
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.pending = Buffer.concat([this.pending, chunk]);
    while (this.inHeaders ? this.readHeaders() : this.readContent());
    done();
  }

  override _flush(done: TransformCallback): void {
    done(null, this.pending);
  }

  /** @returns whether there may be more to read */
  private readContent(): boolean {
    const at = this.pending.indexOf(this.delimiter);
    this.inHeaders = at >= 0;
    const known = this.inHeaders ? at + this.delimiter.length : this.pending.length - this.delimiter.length;
    this.flush(known);
    return this.inHeaders;
  }

  private readHeaders(): boolean {
    const end = this.pending.subarray(0, MAX_HEADER_BYTES).indexOf(HEADERS_END);
    if (end < 0 && this.pending.length < MAX_HEADER_BYTES) return false;
    this.inHeaders = false;
    if (end >= 0) {
      const type = missingType(this.pending.toString("latin1", 0, end));
      if (type !== undefined) this.push(`Content-Type: ${type}\r\n`);
    }
    // busboy refuses such a part; passing its headers on now avoids reading them twice.
    else this.flush(MAX_HEADER_BYTES - this.delimiter.length);
    return true;
  }

  private flush(length: number): void {
    if (length <= 0) return;
    this.push(this.pending.subarray(0, length));
    this.pending = this.pending.subarray(length);
  }
}

const WHITE = [" ", "\t"];

/** The type to declare for a part; undefined for parts that are not files. */
function missingType(headers: string): string | undefined {
  const unfolded = WHITE.reduce((text, white) => text.replaceAll(`\r\n${white}`, " "), headers);
  const fields = unfolded.split("\r\n").map((line): [string, string] => {
    const [name = ""] = line.split(":", 1);
    return [name.toLowerCase(), line.slice(name.length + 1).trim()];
  });
  const valueOf = (name: string) => fields.find(([one]) => one === name)?.[1] ?? "";
  const { params } = parseDisposition(valueOf("content-disposition"), (text) => text) ?? {};
  if (params?.filename === undefined && params?.["filename*"] === undefined) return undefined;
  const [type = ""] = valueOf("content-type").split(";", 1); // malformed parameters don't change the type
  const declared = parseContentType(type);
  return declared ? `${declared.type}/${declared.subtype}` : UNKNOWN;
}

/** The boundary parameter of a multipart content type; empty if missing. */
function boundaryIn(contentType: string): string {
  const [, ...parameters] = contentType.split(";").map((parameter) => parameter.trim());
  const named = parameters.find((parameter) => parameter.toLowerCase().startsWith("boundary="));
  const [, quoted, plain] = /^.{9}(?:"([^"]+)"|([^\s"]+))/.exec(named ?? "") ?? [];
  return quoted ?? plain ?? "";
}
