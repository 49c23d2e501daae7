import express, { type Request, type Response } from "express";
import { DomainError, invalid } from "../src/errors";

const LIMIT = 8 * 1024 * 1024;
/** How long what comes behind a refused body is read away, in milliseconds: a client reads the answer only after it has sent all. */
const DRAIN = 10_000;

const raw = express.raw({ type: () => true, limit: LIMIT });
const utf8 = new TextDecoder("utf-8", { fatal: true });

const hasBody = ({ headers }: Request) =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/**
 * The JSON body of a request; undefined without one.
 * @throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE (by Content-Length before anything is read), BAD_USER_INPUT
 */
export async function readJson(req: Request, res: Response): Promise<unknown> {
  if (!hasBody(req)) return undefined;
  if (!req.is(["application/json", "+json"]))
    throw refuse(req, "UNSUPPORTED_MEDIA_TYPE", "The body must be application/json.");
  const charset = /charset=\s*"?([^;"\s]+)/i.exec(req.headers["content-type"] ?? "")?.[1];
  if (charset && !/^utf-?8$/i.test(charset))
    throw refuse(req, "UNSUPPORTED_MEDIA_TYPE", "The body must be encoded as UTF-8.");
  if (Number(req.headers["content-length"] ?? 0) > LIMIT) throw tooLarge(req);
  const bytes = await readBytes(req, res);
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message : "it is not UTF-8";
    throw invalid([{ path: "", message: `the body is not valid JSON: ${reason.slice(0, 200)}` }]);
  }
}

async function readBytes(req: Request, res: Response): Promise<Buffer> {
  try {
    await new Promise<void>((resolve, reject) =>
      raw(req, res, (error?: unknown) => (error ? reject(error as Error) : resolve())),
    );
  } catch (error) {
    const { status, type } = error as { status?: number; type?: string };
    if (status === 413) throw tooLarge(req);
    if (status === 415)
      throw refuse(req, "UNSUPPORTED_MEDIA_TYPE", "The body's Content-Encoding is not supported.");
    throw invalid([
      { path: "", message: type === "request.aborted" ? "the body ended early" : "the body cannot be read" },
    ]);
  }
  return Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0);
}

const tooLarge = (req: Request) =>
  refuse(req, "PAYLOAD_TOO_LARGE", `The body must be at most ${LIMIT / 1024 / 1024} MiB.`);

/** An error about a body that is not read: the rest of it is thrown away, for a while. */
export function refuse(
  req: Request,
  code: "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE",
  message: string,
): DomainError {
  req.resume();
  setTimeout(() => req.complete || req.destroy(), DRAIN).unref();
  return new DomainError(code, message);
}
