import type { ServerResponse } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import compression from "compression";
import type { Request, Response } from "express";
import { encodingFor } from "./encoding";

/** Smaller responses fit into one packet anyway. */
const MIN_BYTES = 1024;
/** Levels that cost little time; higher ones save about a tenth of the bytes. */
const GZIP = { level: 1 };
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } };

/**
 * Compresses responses that are made for each request, if the client accepts it. It leaves alone what the build has
 * compressed, streams of events, which must arrive at once, and downloads, whose length tells their progress.
 */
export const compress = compression({
  threshold: MIN_BYTES,
  level: GZIP.level,
  brotli: BROTLI,
  filter: (request, response) =>
    compression.filter(request, response) &&
    !String(response.getHeader("Content-Type")).startsWith("text/event-stream") &&
    !response.hasHeader("Content-Disposition"),
});

/** Compresses a response that is about to be streamed. */
export function compressStream(response: ServerResponse): void {
  compress(response.req as Request, response as Response, () => undefined); // created with these prototypes
}

const [asBrotli, asGzip] = [promisify(brotliCompress), promisify(gzip)];
const ENCODERS: Readonly<Record<string, (text: string) => Promise<Buffer>>> = {
  br: (text) => asBrotli(text, BROTLI),
  gzip: (text) => asGzip(text, GZIP),
};

/**
 * Compresses a complete text in the encoding that the client prefers, and sets the headers about it. Not by `compress`,
 * which gives each response methods of its own: V8 then keeps all objects of the request until a full collection.
 * @returns undefined if the text is short, the client accepts no encoding, or the response must not be transformed
 */
export function compressed(response: ServerResponse, text: string): Promise<Buffer> | undefined {
  const { req } = response;
  if (Buffer.byteLength(text) < MIN_BYTES) return undefined;
  if (/\bno-transform\b/.test(String(response.getHeader("Cache-Control")))) return undefined;
  response.appendHeader("Vary", "Accept-Encoding");
  if (req.headers["accept-encoding"] === undefined || req.method === "HEAD") return undefined;
  const encoding = encodingFor(req, Object.keys(ENCODERS));
  if (encoding === undefined) return undefined;
  response.setHeader("Content-Encoding", encoding);
  return ENCODERS[encoding]!(text);
}
