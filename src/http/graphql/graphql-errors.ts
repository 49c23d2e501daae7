import type { IncomingMessage, ServerResponse } from "node:http";
import Negotiator from "negotiator";
import type { ErrorBody } from "../errors/error-body";

export const MEDIA_TYPES = ["application/json", "application/graphql-response+json"];

/** Whether a request is for GraphQL, as Express decides. */
const isForGraphQL = (url: string): boolean => /^\/graphql(?=[/?]|$)/i.test(url);

/** Error body for requests without an operation: in the place where GraphQL clients look, and in the usual one. */
function forGraphQL(body: ErrorBody) {
  const { message, code, requestId, details } = body;
  return { errors: [{ message, extensions: { code, requestId, ...(details && { details }) } }], ...body };
}

/** The body of an error of a request for this URL: that of GraphQL at `/graphql`, otherwise that of REST. */
export const bodyAt = (url: string, body: ErrorBody) => (isForGraphQL(url) ? forGraphQL(body) : body);

/** Converts REST's error body to that of GraphQL, with its header Content-Type. */
export const errorShape = (req: IncomingMessage, res: ServerResponse) => (body: ErrorBody) => {
  res.setHeader("Content-Type", `${mediaTypeFor(req)}; charset=utf-8`);
  res.appendHeader("Vary", "Accept");
  return forGraphQL(body);
};

/** The same for an error before the handler of the path; undefined for paths of REST and pages. */
export const errorShapeAt = (req: IncomingMessage, res: ServerResponse) =>
  isForGraphQL(req.url!) ? errorShape(req, res) : undefined;

/** The media type of GraphQL that the client prefers. Apollo chooses the same for the answers of operations. */
const mediaTypeFor = (req: IncomingMessage): string =>
  new Negotiator(req).mediaType(MEDIA_TYPES) ?? MEDIA_TYPES[0]!;
