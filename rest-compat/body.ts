import type { IncomingMessage, ServerResponse } from "node:http";
import express from "express";
import { DomainError, invalid } from "../src/platform/errors";
import { UnfinishedBodies } from "../src/http/unfinished-bodies";
import { markSources } from "../src/platform/json/json-source";

export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/**
 * How long the rest of a refused body is drained, in ms: many clients read the answer only after sending everything.
 */
const DRAIN_TIMEOUT_MS = 10_000;

export const JSON_EXPECTED = "Unsupported content type. Send the header Content-Type: application/json.";
export const FORM_EXPECTED =
  "Unsupported content type. Send the header Content-Type: application/x-www-form-urlencoded.";

const readers = new Map<number, ReturnType<typeof express.raw>>();
/** A reader of bodies of any type up to a limit, cached per limit. */
function readerFor(limit: number): ReturnType<typeof express.raw> {
  const reader = readers.get(limit) ?? express.raw({ type: () => true, limit });
  readers.set(limit, reader);
  return reader;
}
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The media type of a body, without parameters. */
export const mediaType = ({ headers }: IncomingMessage): string =>
  (headers["content-type"] ?? "").split(";", 1)[0]!.trim().toLowerCase();

const hasBody = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/**
 * Reads the JSON body of a request; undefined without one.
 * @param limit largest size in bytes
 * @throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE (by Content-Length, before reading), BAD_USER_INPUT
 */
export async function readJson(
  req: IncomingMessage,
  res: ServerResponse,
  limit = MAX_BODY_BYTES,
): Promise<unknown> {
  if (!hasBody(req)) return undefined;
  if (!/^application\/json$|\+json$/.test(mediaType(req)))
    throw refuse(req, "UNSUPPORTED_MEDIA_TYPE", JSON_EXPECTED);
  const charset = /charset=\s*"?([^;"\s]+)/i.exec(req.headers["content-type"] ?? "")?.[1];
  if (charset && !/^utf-?8$/i.test(charset))
    throw refuse(req, "UNSUPPORTED_MEDIA_TYPE", "Unsupported charset. Encode the body as UTF-8.");
  if (Number(req.headers["content-length"] ?? 0) > limit) throw tooLarge(req, limit);
  const bytes = await readBytes(req, res, limit);
  if (bytes.length === 0) return undefined;
  try {
    const text = utf8.decode(bytes);
    const body = JSON.parse(text) as unknown;
    markSources(text, body);
    return body;
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : "it is not UTF-8";
    throw invalid([{ path: "", message: `the body is not valid JSON: ${reason.slice(0, 200)}` }]);
  }
}

/** Largest body that is read on a path that takes none, in bytes. */
const MAX_UNUSED_BODY_BYTES = 64 * 1024;

/**
 * The fields of a body on a path that takes none; undefined if it is too long or no JSON. Such a body has no effect.
 * @returns an empty object without a body
 */
export async function readUnused(req: IncomingMessage, res: ServerResponse): Promise<unknown> {
  if (!hasBody(req)) return {};
  if (Number(req.headers["content-length"] ?? 0) > MAX_UNUSED_BODY_BYTES) return undefined;
  try {
    const bytes = await readBytes(req, res, MAX_UNUSED_BODY_BYTES);
    return bytes.length === 0 ? {} : (JSON.parse(utf8.decode(bytes)) as unknown);
  } catch {
    return undefined;
  }
}

/**
 * Reads the names and values of a form, in order.
 * @throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, BAD_USER_INPUT
 */
export async function readFields(
  req: IncomingMessage,
  res: ServerResponse,
  limit = MAX_BODY_BYTES,
): Promise<readonly (readonly [string, string])[]> {
  if (!hasBody(req)) return [];
  if (mediaType(req) !== "application/x-www-form-urlencoded")
    throw refuse(req, "UNSUPPORTED_MEDIA_TYPE", FORM_EXPECTED);
  if (Number(req.headers["content-length"] ?? 0) > limit) throw tooLarge(req, limit);
  const bytes = await readBytes(req, res, limit);
  return [...new URLSearchParams(bytes.toString("utf8"))];
}

async function readBytes(req: IncomingMessage, res: ServerResponse, limit: number): Promise<Buffer> {
  const release = UnfinishedBodies.add(req, limit);
  try {
    await new Promise<void>((resolve, reject) =>
      readerFor(limit)(req, res, (error?: unknown) => (error ? reject(error as Error) : resolve())),
    );
  } catch (error) {
    const { status, type } = error as { status?: number; type?: string };
    if (status === 413) throw tooLarge(req, limit);
    if (status === 415)
      throw refuse(
        req,
        "UNSUPPORTED_MEDIA_TYPE",
        "Unsupported Content-Encoding. Send the body uncompressed, or compressed with gzip, deflate or br.",
      );
    throw unreadable(type === "request.aborted" ? "the body ended early" : undefined);
  } finally {
    release();
  }
  const { body } = req as IncomingMessage & { body?: unknown }; // set by the reader
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/** The error for a body that cannot be received or decompressed. */
export const unreadable = (message = "the body cannot be read"): DomainError =>
  invalid([{ path: "", message }]);

const sizeOf = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${bytes / 1024} KiB` : `${bytes / 1024 / 1024} MiB`;

export const bodyLimitMessage = (limit: number): string => `The body must be at most ${sizeOf(limit)}.`;

const tooLarge = (req: IncomingMessage, limit: number) =>
  refuse(req, "PAYLOAD_TOO_LARGE", bodyLimitMessage(limit));

/** An error about a body that is not read. The rest of the body is discarded for a while. */
export function refuse(
  req: IncomingMessage,
  code: "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE",
  message: string,
): DomainError {
  req.resume();
  setTimeout(() => req.complete || req.destroy(), DRAIN_TIMEOUT_MS).unref();
  return new DomainError(code, message);
}
