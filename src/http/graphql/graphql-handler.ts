import type { IncomingMessage, ServerResponse } from "node:http";
import { HeaderMap, type ApolloServer, type BaseContext, type HTTPGraphQLRequest } from "@apollo/server";
import type { Request, RequestHandler } from "express";
import Negotiator from "negotiator";
import processRequest, { type ProcessRequestOptions } from "graphql-upload/processRequest.mjs";
import { DomainError, invalid } from "../../platform/errors";
import { answerInPieces, markSources, piecesOf } from "../../platform/json/json-source";
import { requestId } from "../answers/answer-headers";
import { withDeclaredTypes } from "../multipart/declared-types";
import { operationsTextOf } from "../multipart/operations-text";
import { removeNames } from "../multipart/unnamed-copy";
import { unreadableForm } from "../errors/unreadable-form";
import { codesOf } from "./graphql-answers";
import { errorShape, MEDIA_TYPES } from "./graphql-errors";
import { MAX_QUERY_BYTES } from "./graphql-limits";
import { readJsonBody } from "../json-body";
import { fileTooLarge, MAX_JSON_BYTES, toDomainError, tooLarge } from "../errors/parser-errors";
import { noteErrors } from "../errors/reported-errors";
import type { PersistedOperations } from "./persisted-operations";
import type { SendError } from "../errors/send-error";
import { keepUncompressed, sendJson } from "../answers/send-json";

type NewContext<Context> = (more?: { readonly tooSlow: () => void }) => Context;

export interface GraphQLHandlerOptions<Context extends BaseContext> {
  readonly apollo: ApolloServer<Context>;
  /** @returns a function that creates the context. @throws UNAUTHENTICATED, RATE_LIMITED */
  readonly authenticate: (req: IncomingMessage, res: ServerResponse) => Promise<NewContext<Context>>;
  /** Answers a subscription with a stream of events. */
  readonly stream: (
    req: IncomingMessage,
    res: ServerResponse,
    newContext: NewContext<Context>,
    payload: object,
  ) => Promise<void>;
  /** An object that all copies of a context share: it knows the streamed lists of an answer, and its errors. */
  readonly ownerOf: (context: Context) => object;
  /** Answers a request when few others are under way. */
  readonly limited: (answer: () => Promise<void>) => Promise<void>;
  /** Whether the answer contains a secret. */
  readonly disclosesSecret: (context: Context) => boolean;
  readonly maxFileBytes: number;
  readonly persisted: PersistedOperations | undefined;
  readonly sendError: SendError;
}

/** Handles POST and GET /graphql: reads and limits the request, then runs it with Apollo. */
export function graphqlHandler<Context extends BaseContext>(
  options: GraphQLHandlerOptions<Context>,
): RequestHandler {
  return async (req, res) => {
    res.setHeader("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
    if (req.method === "OPTIONS") {
      res.setHeader("Allow", "GET, POST, OPTIONS");
      return void res.writeHead(204).end();
    }
    try {
      // Invalid credentials are refused before the body is read.
      const newContext = await options.authenticate(req, res);
      const request = requestOf(req, await bodyOf(req, res, options.maxFileBytes));
      if (prefers(req, EVENT_STREAM)) return await options.stream(req, res, newContext, payloadOf(request));
      if (options.persisted) withPersisted(options.persisted, request);
      await options.limited(() => answer(options, req, res, request, newContext()));
    } catch (error) {
      options.sendError(res, toDomainError(error), errorShape(req, res));
    }
  };
}

async function answer<Context extends BaseContext>(
  { apollo, ownerOf, disclosesSecret }: GraphQLHandlerOptions<Context>,
  req: Request,
  res: ServerResponse,
  httpGraphQLRequest: HTTPGraphQLRequest,
  contextValue: Context,
): Promise<void> {
  const asker = ownerOf(contextValue);
  answerInPieces(asker);
  const context = () => Promise.resolve(contextValue);
  const {
    status = 200,
    headers,
    body,
  } = await apollo.executeHTTPGraphQLRequest({ httpGraphQLRequest, context });
  if (body.kind !== "complete") throw new Error("Incremental delivery is not supported.");
  for (const [name, value] of headers) res.setHeader(name, value);
  noteErrors(res, codesOf(asker));
  if (disclosesSecret(contextValue)) keepUncompressed(res);
  const text = status < 400 ? body.string : withRequestId(body.string, requestId(res));
  res.statusCode = status;
  await sendJson(res, piecesOf(text, asker));
}

const EVENT_STREAM = "text/event-stream";

const prefers = (req: IncomingMessage, mediaType: string): boolean =>
  req.headers.accept?.includes(mediaType) === true &&
  new Negotiator(req).mediaType([...MEDIA_TYPES, mediaType]) === mediaType;

/** Adds the request id to errors that Apollo reports itself. */
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
  // Browsers ask before they send JSON to another site. Apollo would parse the type at each request to find that out.
  if (headers["content-type"] === "application/json") {
    map.delete("content-type");
    map.set("apollo-require-preflight", "true");
  }
  const at = originalUrl.indexOf("?");
  return { method, headers: map, search: at < 0 ? "" : originalUrl.slice(at), body };
}

/** The operation of a request, in its body or its query string. */
function payloadOf({ method, search, body }: HTTPGraphQLRequest): object {
  if (method !== "GET") return Object(body) as object;
  const { variables = null, extensions = null, ...rest } = Object.fromEntries(new URLSearchParams(search));
  return { ...rest, variables: jsonIn(variables), extensions: jsonIn(extensions) };
}

/** Replaces the id of a persisted operation by its text. @throws PERSISTED_QUERY_NOT_IN_LIST */
function withPersisted(persisted: PersistedOperations, request: HTTPGraphQLRequest): void {
  if (request.method === "GET") {
    const parameters = new URLSearchParams(request.search);
    const query = persisted.textOf({
      query: parameters.get("query") ?? undefined,
      extensions: jsonIn(parameters.get("extensions")),
    });
    if (query === undefined) return;
    parameters.set("query", query);
    parameters.delete("extensions");
    request.search = `?${parameters.toString()}`;
  } else {
    const body = Object(request.body) as Record<string, unknown>;
    const query = persisted.textOf(body);
    if (query !== undefined) Object.assign(body, { query, extensions: {} });
  }
}

/** The value of a JSON text; undefined if it is none, which Apollo then reports. */
function jsonIn(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the body; empty if there is none. @throws PAYLOAD_TOO_LARGE, BAD_USER_INPUT, and errors of the parsers */
async function bodyOf(req: Request, res: ServerResponse, maxFileBytes: number): Promise<unknown> {
  const maxBytes = MAX_JSON_BYTES + (isForm(req) ? maxFileBytes : 0);
  // Checked by the declared length, because the parsers would first read the whole body.
  if (Number(req.headers["content-length"] ?? 0) > maxBytes)
    throw isForm(req) ? fileTooLarge(maxFileBytes) : tooLarge();
  // busboy also truncates a file of exactly its limit.
  const limits = { maxFileSize: maxFileBytes + 1, maxFiles: 1, maxFieldSize: MAX_JSON_BYTES };
  const body = isForm(req) ? await formOf(req, res, limits) : await readJsonBody(req, res);
  const { query } = body as { query?: unknown };
  if (typeof query === "string" && Buffer.byteLength(query) > MAX_QUERY_BYTES)
    throw invalid([{ path: "query", message: "must be at most 64 KiB" }]);
  return body;
}

/** Reads the operations of a form, with its files in their places. */
async function formOf(req: Request, res: ServerResponse, limits: ProcessRequestOptions): Promise<object> {
  const form = withDeclaredTypes(req);
  const operationsText = operationsTextOf(form);
  const operations = await processRequest(form, res, limits).catch(refuseForm);
  removeNames(operations);
  // An operation has a deadline, and few run at once: neither depends on how fast a client uploads its file.
  if (!req.closed) await new Promise((resolve) => req.once("close", resolve));
  markSources(operationsText(), operations);
  return operations;
}

/** Turns parser errors without a status into BAD_USER_INPUT: the form is malformed. */
function refuseForm(error: unknown): never {
  const { status, code, message } = Object(error) as Record<"status" | "code" | "message", unknown>;
  if (status !== undefined || code !== undefined || error instanceof DomainError) throw error;
  throw unreadableForm(String(message));
}

export const isForm = ({ headers }: Pick<IncomingMessage, "headers">): boolean =>
  /^multipart\/form-data\b/i.test(headers["content-type"] ?? "");
