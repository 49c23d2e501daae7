import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Piece } from "../../platform/json/json-source";
import { compressed, compressStream } from "./compress";

/** Sets the status and content type of a JSON response. */
export function beginJson(res: ServerResponse, status: number): void {
  res.statusCode = status;
  res.setHeader("Content-Type", "application/json; charset=utf-8");
}

/**
 * Excludes a response with a secret, here and in proxies: from its length, somebody who watches the network and can
 * choose another of its values could guess the secret (BREACH).
 */
export const keepUncompressed = (response: ServerResponse): void =>
  void response.setHeader("Cache-Control", "no-store, no-transform");

/** Ends a response with a complete text, compressed if it is long and the client accepts it. */
export async function sendText(res: ServerResponse, text: string): Promise<void> {
  const compressing = compressed(res, text);
  const body = compressing ? await compressing : text;
  res.setHeader("Content-Length", Buffer.byteLength(body));
  res.end(body); // a text is sent in one piece with the headers
}

/**
 * Ends a response with JSON. Pieces that are still to be read are streamed, as fast as the client reads.
 * @throws the error of a piece that could not be read; the connection is then cut, because the client has a partial
 * response
 */
export async function sendJson(res: ServerResponse, pieces: readonly [Piece, ...Piece[]]): Promise<void> {
  const [whole] = pieces;
  if (pieces.length === 1 && typeof whole === "string") return sendText(res, whole);
  if (res.req.method === "HEAD") return void res.end();
  compressStream(res);
  const failures: Error[] = [];
  const fail = (error: Error): never => {
    failures.push(error);
    throw error;
  };
  // A client that disconnects is not an error.
  await pipeline(textsOf(pieces, fail), res).catch(() => undefined);
  const [failure] = failures;
  if (failure) throw failure;
}

async function* textsOf(pieces: readonly Piece[], fail: (error: Error) => never): AsyncGenerator<string> {
  for (const piece of pieces) yield typeof piece === "string" ? piece : await piece().catch(fail);
}
