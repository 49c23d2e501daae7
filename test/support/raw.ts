import { Agent, request, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";

/** An answer with the headers as Node reads them. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly bytes: Buffer;
}

export interface RawRequest {
  readonly method?: string;
  /** Sent unchanged, unlike by `fetch`, which normalizes paths and refuses a Host header. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  /** Sends only the head and waits for the answer. */
  readonly headOnly?: boolean;
}

const agent = new Agent({ keepAlive: true, maxSockets: 16 });

/** Sends a request exactly as given. */
export function rawRequest(
  url: string,
  { method = "GET", path, headers = {}, body, headOnly = false }: RawRequest,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const length: Record<string, string> =
    body === undefined || headOnly ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
  const options = { hostname, port, method, path, headers: { ...length, ...headers } };
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, agent: headOnly ? false : agent } as object, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        if (headOnly) sent.destroy();
        const { statusCode: status = 0, headers } = response;
        const bytes = Buffer.concat(chunks);
        resolve({ status, headers, bytes, text: bytes.toString("utf8") });
      });
    });
    sent.on("error", reject);
    if (headOnly) sent.flushHeaders();
    else sent.end(body);
  });
}

/** Everything that the server sends for a request. */
export interface ReceivedAnswer {
  readonly status: number;
  /** In lower case. */
  readonly headers: string;
  readonly body: string;
}

/** Sends the head of a request exactly as given, and reads until the server closes the connection. @param line without the version */
export const rawHead = (url: string, line: string, headers: readonly string[]): Promise<ReceivedAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    let text = "";
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${line} HTTP/1.1\r\n${[...headers, "Connection: close"].join("\r\n")}\r\n\r\n`),
    );
    socket.setEncoding("utf8").on("data", (more: string) => (text += more));
    socket.on("error", reject).on("close", () => {
      const [head = "", body = ""] = text.split(/\r\n\r\n(.*)/s);
      resolve({ status: Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1]), headers: head.toLowerCase(), body });
    });
  });

/** Closes the connections that `rawRequest` keeps open. */
export const closeRaw = (): void => agent.destroy();
