import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Piece } from "../platform/json/json-source";

/** Begins an answer in JSON. */
export function beginJson(res: ServerResponse, status: number): void {
  res.statusCode = status;
  res.setHeader("Content-Type", "application/json; charset=utf-8");
}

/** Ends an answer with a text that is complete. */
export function sendText(res: ServerResponse, text: string): void {
  res.setHeader("Content-Length", Buffer.byteLength(text));
  res.end(text);
}

/**
 * Ends an answer with its JSON. Where pieces of it are still to be read, they are sent one after another, as fast as the
 * client takes them.
 * @throws what kept a piece from being read; the connection is cut off then, as the client has a part of the answer
 */
export async function sendJson(res: ServerResponse, pieces: readonly [Piece, ...Piece[]]): Promise<void> {
  const [whole] = pieces;
  if (pieces.length === 1 && typeof whole === "string") return sendText(res, whole);
  if (res.req.method === "HEAD") return void res.end();
  const failures: Error[] = [];
  const fail = (error: Error): never => {
    failures.push(error);
    throw error;
  };
  // It fails too where the client goes away, which is nobody's fault.
  await pipeline(textsOf(pieces, fail), res).catch(() => undefined);
  const [failure] = failures;
  if (failure) throw failure;
}

async function* textsOf(pieces: readonly Piece[], fail: (error: Error) => never): AsyncGenerator<string> {
  for (const piece of pieces) yield typeof piece === "string" ? piece : await piece().catch(fail);
}
