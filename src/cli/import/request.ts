import { request as requestHttp, type ClientRequest, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

export interface Requested {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | FormData;
  /** Longest time until the last byte of the answer. */
  readonly timeoutMs: number;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

const OWN_HEADERS = { "user-agent": "Parley/1.0 (command)", "accept-encoding": "gzip" };

/**
 * Sends a request, and reads the whole answer. Follows no redirect, as it must not get the key. By `node:http`: `fetch`
 * doubles the CPU time of a command, because it compiles its parser for each process.
 * @throws an Error of the system, whose code says what has failed, or a TimeoutError
 */
export async function request(
  url: string,
  { method, headers, body, timeoutMs }: Requested,
): Promise<Answered> {
  const signal = AbortSignal.timeout(timeoutMs);
  const encoded = body instanceof FormData ? await encode(body) : { headers: {}, content: body };
  const send = new URL(url).protocol === "https:" ? requestHttps : requestHttp;
  const sent = send(url, { method, headers: { ...OWN_HEADERS, ...headers, ...encoded.headers }, signal });
  sent.end(encoded.content);
  try {
    const answer = await answerOf(sent);
    const read = await buffer(answer);
    const isZipped = answer.headers["content-encoding"] === "gzip";
    return { status: answer.statusCode!, headers: answer.headers, body: isZipped ? await unzip(read) : read };
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

const unzip = promisify<Buffer, Buffer>(gunzip);

const answerOf = (sent: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => sent.on("response", resolve).on("error", reject));

async function encode(form: FormData): Promise<{ headers: Record<string, string>; content: Buffer }> {
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type")!;
  return { headers: { "content-type": type }, content: Buffer.from(await encoded.arrayBuffer()) };
}
