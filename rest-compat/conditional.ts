import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { getNamedType, getNullableType, isListType, isObjectType, OperationTypeNode, print } from "graphql";
import type { Context } from "../schema/core/context";
import { DomainError, invalid, isLostToAnother } from "../src/platform/errors";
import { revealed } from "../src/platform/json/json-source";
import type { CompiledRoute, Operation } from "./compile";
import type { Answer, Work } from "./server";

/** Tags that If-Match lists, without `W/`; `*` matches any. */
export type Expected = "*" | readonly string[];

/** Answers of a PATCH or DELETE that loses to others so often are 409. */
const MAX_ATTEMPTS = 3;

const isTagged = ({ definition, output }: Operation): boolean => {
  const type = getNamedType(output);
  const isList = isListType(getNullableType(output));
  const isRead = definition.operation === OperationTypeNode.QUERY;
  return isRead && !isList && isObjectType(type) && "id" in type.getFields();
};

const selectionOf = ({ operation }: CompiledRoute): string =>
  operation?.selection ? print(operation.selection) : "";

/**
 * Adds to each route whether its answers have an ETag, and to a PATCH or DELETE the route that reads its record. The
 * answer of a PATCH has the ETag too if it shows the same fields.
 */
export function withReaders(
  routes: readonly CompiledRoute[],
  compile: (row: CompiledRoute) => CompiledRoute,
): CompiledRoute[] {
  const isReader = ({ method, operation }: CompiledRoute) =>
    method === "get" && operation !== undefined && isTagged(operation);
  return routes.map((route) => {
    if (isReader(route)) return { ...route, tagged: true };
    if (route.method !== "patch" && route.method !== "delete") return route;
    const { current: document, ...row } = route;
    const reader = document
      ? compile({ ...row, method: "get", document })
      : routes.find((other) => other.path === route.path && isReader(other));
    if (!reader) return route;
    const shows = route.method === "patch" && selectionOf(reader) === selectionOf(route);
    return { ...route, reader, tagged: shows };
  });
}

/** The tag that the etag package makes, without its hash object, which costs a request more than all else of its tag. */
const tagOf = (body: string): string =>
  `"${Buffer.byteLength(body).toString(16)}-${hash("sha1", body, "base64").slice(0, 27)}"`;

/**
 * Sets the ETag of a response with this body, and lets caches keep it, but ask each time whether it is still current.
 * Responses with secrets are not kept.
 * @returns whether the client has the body already, by If-None-Match
 */
export function setTag(res: ServerResponse, body: string): boolean {
  const tag = tagOf(body);
  res.setHeader("ETag", tag);
  if (!res.hasHeader("Cache-Control")) res.setHeader("Cache-Control", "private, no-cache");
  if (res.req.method !== "GET" && res.req.method !== "HEAD") return false;
  // Whatever Cache-Control says: fetch sends no-cache with every If-None-Match of its caller.
  const known = tagsIn(res.req.headers["if-none-match"]);
  return known === "*" || known?.includes(tag) === true;
}

/** Answers 304: the client has the body. */
export function endUnchanged(res: ServerResponse): Promise<void> {
  res.removeHeader("Content-Type");
  res.appendHeader("Vary", "Accept-Encoding");
  res.writeHead(304).end();
  return Promise.resolve();
}

/** The tags in If-Match; undefined without one. @throws BAD_USER_INPUT */
export function expectedOf({ headers }: IncomingMessage): Expected | undefined {
  const expected = tagsIn(headers["if-match"]);
  if (expected || headers["if-match"] === undefined) return expected;
  throw invalid([{ path: "If-Match", message: 'must be *, or ETags such as "5f-abc", separated by commas' }]);
}

/** The tags in a header; undefined without a header, and if it is malformed. */
function tagsIn(value: string | undefined): Expected | undefined {
  if (value === undefined) return undefined;
  if (value.trim() === "*") return "*";
  const tags = value.split(",").map((tag) => /^\s*(?:W\/)?("[^"]*")\s*$/.exec(tag)?.[1]);
  return tags.every((tag) => tag !== undefined) ? tags : undefined;
}

/**
 * Runs a change if its record still has one of the expected ETags. All statements of the transaction see the same
 * moment: if another request changes the record meanwhile, the database refuses the change, and the ETag is compared
 * again.
 * @param read reads the record as the reader of the route
 * @throws PRECONDITION_FAILED, and what the work throws
 */
export async function runIfMatching(
  scope: Context["scope"],
  expected: readonly string[],
  read: (scope: Context["scope"]) => Promise<unknown>,
  work: Work,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++)
    try {
      return await scope.transaction(
        async (inside) => {
          const body = revealed(JSON.stringify(await read(inside.with({}))));
          if (!expected.includes(tagOf(body))) throw changed();
          return await work(inside);
        },
        { snapshot: "transaction" },
      );
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isLostToAnother(error)) throw error;
    }
}

const changed = () =>
  new DomainError(
    "PRECONDITION_FAILED",
    "The record has another ETag than If-Match names, because it has changed since it was read. Read it again, then repeat the request with its new ETag.",
  );

/** The error for ETags in If-Match on a path without. */
export const hasNoTag = () =>
  new DomainError("PRECONDITION_FAILED", "This path has no ETag, so no ETag in If-Match can match.");
