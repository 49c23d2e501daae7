import type { IncomingMessage } from "node:http";
import { pipeline, Transform, type TransformCallback } from "node:stream";

const HEADERS_END = "\r\n\r\n";
/** busboy refuses a part with longer headers. */
const MOST_HEADER_BYTES = 16_384;
const UNKNOWN = "application/octet-stream";
const TYPE = /^content-type:[ \t]*([\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+)[ \t]*(?:;|$)/im;
const FILE = /^content-disposition:.*;[ \t]*filename\*?=/im;

/**
 * A form in which each file declares a type that can be read: busboy takes one without for plain text, which many
 * programs send for any file whose type they do not know.
 */
export function withDeclaredTypes(form: IncomingMessage): IncomingMessage {
  const { headers } = form;
  const [, quoted, plain] =
    /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(headers["content-type"] ?? "") ?? [];
  const typed = pipeline(form, new DeclaredTypes(quoted ?? plain ?? ""), () => undefined);
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
    if (known > 0) {
      this.push(this.held.subarray(0, known));
      this.held = this.held.subarray(known);
    }
    return this.inHeaders;
  }

  private readHeaders(): boolean {
    const end = this.held.indexOf(HEADERS_END);
    if (end < 0 && this.held.length < MOST_HEADER_BYTES) return false;
    const headers = this.held.toString("latin1", 0, Math.max(end, 0)).replace(/\r\n[ \t]+/g, " ");
    if (FILE.test(headers.replace(/"(?:[^"\\]|\\.)*"/g, '""')))
      this.push(`Content-Type: ${TYPE.exec(headers)?.[1] ?? UNKNOWN}\r\n`);
    this.inHeaders = false;
    return true;
  }
}
