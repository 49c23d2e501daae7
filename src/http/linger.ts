import type { IncomingMessage, ServerResponse } from "node:http";

/** Shorter bodies fit into the buffers of the system, in bytes. */
const LARGE_BODY_BYTES = 65_536;
/** How much of the rest of a body is discarded after the response, and for how long. */
const MAX_DISCARDED_BYTES = 128 * 1_048_576;
const MAX_LINGER_MS = 10_000;

/**
 * Keeps a connection open until a large body has arrived, although the client wants it closed after the response. Many
 * clients read a refusal only after they have sent everything, and lose it if the connection is closed before.
 */
export function lingerForBody(req: IncomingMessage, res: ServerResponse): void {
  const { headers, httpVersion, socket } = req;
  const isLarge = !(Number(headers["content-length"] ?? 0) <= LARGE_BODY_BYTES);
  if (res.shouldKeepAlive || httpVersion !== "1.1") return;
  if (!isLarge && headers["transfer-encoding"] === undefined) return;
  res.shouldKeepAlive = true;
  res.once("finish", () => {
    if (req.complete) return void socket.end();
    const timer = setTimeout(() => socket.destroy(), MAX_LINGER_MS).unref();
    let left = MAX_DISCARDED_BYTES;
    req.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) socket.destroy();
    });
    req.once("close", () => clearTimeout(timer));
    req.once("end", () => socket.end());
    req.resume();
  });
}
