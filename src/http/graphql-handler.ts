import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { HeaderMap, type ApolloServer, type BaseContext, type HTTPGraphQLRequest } from "@apollo/server";
import express, { type Request, type RequestHandler } from "express";
import processRequest, { type ProcessRequestOptions } from "graphql-upload/processRequest.mjs";
import { DomainError, invalid } from "../platform/errors";
import { answerInPieces, markSources, piecesOf } from "../platform/json/json-source";
import { requestId } from "./answer-headers";
import { withDeclaredTypes } from "./declared-types";
import type { ErrorBody } from "./error-body";
import { MOST_QUERY_BYTES } from "./graphql-limits";
import { refusalOf } from "./refusal";
import type { SendError } from "./send-error";
import { sendJson } from "./send-json";

export interface GraphQLHandlerOptions<Context extends BaseContext> {
  readonly apollo: ApolloServer<Context>;
  /** @throws UNAUTHENTICATED, RATE_LIMITED */
  readonly context: (req: IncomingMessage, res: ServerResponse) => Promise<Context>;
  /** Whoever the lists of an answer are read for. */
  readonly askerOf: (context: Context) => object;
  readonly maxFileBytes: number;
  readonly sendError: SendError;
}

const JSON_BYTES = 8 * 1024 * 1024;
const utf8 = new TextDecoder();
/** Bodies that may hold functions, whose text is kept. */
const texts = new WeakMap<IncomingMessage, string>();
const readJson = express.json({
  limit: JSON_BYTES,
  verify: (req, _res, bytes, encoding) => {
    if (encoding === "utf-8" && bytes.includes("functions")) texts.set(req, utf8.decode(bytes));
  },
});

/** POST and GET /graphql: what a request brings along, read and limited, then Apollo. */
export function graphqlHandler<Context extends BaseContext>(
  options: GraphQLHandlerOptions<Context>,
): RequestHandler {
  const { apollo, sendError } = options;
  return async (req, res) => {
    res.setHeader("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
    if (req.method === "OPTIONS") {
      res.setHeader("Allow", "GET, POST, OPTIONS");
      return void res.writeHead(204).end();
    }
    try {
      // A credential that is not valid is refused before a body is read.
      const contextValue = await options.context(req, res);
      const asker = options.askerOf(contextValue);
      answerInPieces(asker);
      const httpGraphQLRequest = requestOf(req, await bodyOf(req, res, options.maxFileBytes));
      const context = () => Promise.resolve(contextValue);
      const {
        status = 200,
        headers,
        body,
      } = await apollo.executeHTTPGraphQLRequest({ httpGraphQLRequest, context });
      // A client that still sends its file would not read the answer.
      if (isForm(req) && !req.closed) await once(req, "close");
      if (body.kind !== "complete") throw new Error("An answer in parts, which no operation of ours has.");
      for (const [name, value] of headers) res.setHeader(name, value);
      const text = status < 400 ? body.string : withRequestId(body.string, requestId(res));
      res.statusCode = status;
      await sendJson(res, piecesOf(text, asker));
    } catch (error) {
      sendError(res, refusalOf(error), forGraphQL);
    }
  };
}

/** The body of a request that held no operation: its error is where GraphQL clients look, and where all others do. */
function forGraphQL(body: ErrorBody) {
  const { message, code, requestId, details } = body;
  return { errors: [{ message, extensions: { code, requestId, ...(details && { details }) } }], ...body };
}

/** What Apollo refuses by itself knows nothing of our ids. */
function withRequestId(text: string, requestId: string): string {
  const body = JSON.parse(text) as { errors?: { extensions?: Record<string, unknown> }[] };
  const errors = body.errors?.map(({ extensions, ...error }) => ({
    ...error,
    extensions: { ...extensions, requestId },
  }));
  return JSON.stringify({ ...body, errors });
}

function requestOf({ method, headers, originalUrl }: Request, body: unknown): HTTPGraphQLRequest {
  const map = new HeaderMap();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) map.set(name, Array.isArray(value) ? value.join(", ") : value);
  const at = originalUrl.indexOf("?");
  return { method, headers: map, search: at < 0 ? "" : originalUrl.slice(at), body };
}

/** The body, empty where there is none that can be read. @throws PAYLOAD_TOO_LARGE, BAD_USER_INPUT, or what the parsers throw */
async function bodyOf(req: Request, res: ServerResponse, maxFileBytes: number): Promise<unknown> {
  const most = JSON_BYTES + (isForm(req) ? maxFileBytes : 0);
  // By what it says of itself, where the parsers would first read everything away.
  if (Number(req.headers["content-length"] ?? 0) > most)
    throw new DomainError("PAYLOAD_TOO_LARGE", "The body is too large.");
  const limits = { maxFileSize: maxFileBytes + 1, maxFiles: 1, maxFieldSize: JSON_BYTES };
  const body = isForm(req) ? await formOf(req, res, limits) : await jsonOf(req, res);
  const { query } = body as { query?: unknown };
  if (typeof query === "string" && Buffer.byteLength(query) > MOST_QUERY_BYTES)
    throw invalid([{ path: "query", message: "must be at most 64 KiB" }]);
  return body;
}

/** The operations of a form, with its files in their places. */
async function formOf(req: Request, res: ServerResponse, limits: ProcessRequestOptions): Promise<object> {
  const form = withDeclaredTypes(req);
  let text = "";
  const pipe = form.pipe.bind(form);
  // Of the parser's own fields only what was read of them is told.
  form.pipe = (parser, options) => {
    parser.on("field", (name: string, value: string) => void (name === "operations" && (text = value)));
    return pipe(parser, options);
  };
  const operations = await processRequest(form, res, limits).catch(refuseForm);
  markSources(text, operations);
  return operations;
}

/** The parser of forms tells of most that cannot be read without a status. */
function refuseForm(error: unknown): never {
  const { status, code, message } = Object(error) as Record<"status" | "code" | "message", unknown>;
  if (status !== undefined || code !== undefined || error instanceof DomainError) throw error;
  throw invalid([{ path: "", message: `the form cannot be read: ${String(message).slice(0, 200)}` }]);
}

const isForm = ({ headers }: Request): boolean =>
  /^multipart\/form-data\b/i.test(headers["content-type"] ?? "");

function jsonOf(req: Request, res: ServerResponse): Promise<unknown> {
  return new Promise((resolve, reject) =>
    readJson(req, res, (error?: unknown) => {
      if (error) return reject(error as Error);
      const { body = {} } = req as { body?: unknown };
      markSources(texts.get(req) ?? "", body);
      resolve(body);
    }),
  );
}
