import { request as requestHttp, type ClientRequest, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { promisify } from "node:util";
import { gunzip, type ZlibOptions } from "node:zlib";

export interface Requested {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | FormData;
  /** Longest time until the last byte of an answer to a small request; see `BYTES_PER_SECOND`. */
  readonly timeoutMs: number;
  /** Length of the longest answer that is read; errors may be longer. */
  readonly mostBytes: number;
}

/** Length of the longest answer with an error that is read, whatever is expected. */
const ERROR_BYTES = 1_048_576;

export interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** An answer that is longer than allowed. */
export class TooLongError extends Error {}

/** An answer that ends before its last byte. */
export class BrokenOffError extends Error {}

/** Bytes that are sent or received prolong the time: files may be large, and connections slow. */
const BYTES_PER_SECOND = 32 * 1024;

const OWN_HEADERS = { "user-agent": "Parley/1.0 (command)", "accept-encoding": "gzip" };

/**
 * Sends a request, and reads the whole answer. Follows no redirect, as it must not get the key. By `node:http`: `fetch`
 * doubles the CPU time of a command, because it compiles its parser for each process.
 * @throws an Error of the system, whose code says what has failed, a TimeoutError, a TooLongError, or a BrokenOffError
 */
export async function request(
  url: string,
  { method, headers, body, timeoutMs, mostBytes }: Requested,
): Promise<Answered> {
  const encoded = body instanceof FormData ? await encode(body) : { headers: {}, content: body };
  const deadline = new Deadline(timeoutMs, Buffer.byteLength(encoded.content ?? ""));
  const { signal } = deadline;
  try {
    const send = new URL(url).protocol === "https:" ? requestHttps : requestHttp;
    const sent = send(url, { method, headers: { ...OWN_HEADERS, ...headers, ...encoded.headers }, signal });
    sent.end(encoded.content);
    const answer = await answerOf(sent);
    const { statusCode: status = 0, headers: answered } = answer;
    const most = status >= 200 && status < 300 ? mostBytes : Math.max(mostBytes, ERROR_BYTES);
    const read = await bodyOf(answer, most, deadline);
    const isZipped = answered["content-encoding"] === "gzip";
    return { status, headers: answered, body: isZipped ? await unzipped(read, most) : read };
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    deadline.clear();
  }
}

/** Aborts a request that takes too long for the number of its bytes. */
class Deadline {
  private readonly controller = new AbortController();
  private readonly begun = performance.now();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly timeoutMs: number,
    private bytes: number,
  ) {
    this.wait();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  prolong(bytes: number): void {
    this.bytes += bytes;
  }

  clear(): void {
    clearTimeout(this.timer);
  }

  private wait(): void {
    const allowedMs = this.timeoutMs + (this.bytes / BYTES_PER_SECOND) * 1_000;
    const left = this.begun + allowedMs - performance.now();
    if (left > 0) this.timer = setTimeout(() => this.wait(), left);
    else this.controller.abort(new DOMException("The answer takes too long", "TimeoutError"));
  }
}

async function bodyOf(answer: IncomingMessage, mostBytes: number, deadline: Deadline): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > mostBytes) throw new TooLongError(); // the loop closes the connection
      deadline.prolong(chunk.length);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof TooLongError) throw error;
    throw new BrokenOffError(undefined, { cause: error });
  }
  return Buffer.concat(chunks);
}

async function unzipped(content: Buffer, mostBytes: number): Promise<Buffer> {
  try {
    return await unzip(content, { maxOutputLength: Math.max(mostBytes, 1) });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? new TooLongError() : error;
  }
}

const unzip = promisify<Buffer, ZlibOptions, Buffer>(gunzip);

const answerOf = (sent: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => sent.on("response", resolve).on("error", reject));

async function encode(form: FormData): Promise<{ headers: Record<string, string>; content: Buffer }> {
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type")!;
  return { headers: { "content-type": type }, content: Buffer.from(await encoded.arrayBuffer()) };
}
