import { existsSync, readdirSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import etag from "etag";
import type { NextFunction, Request, RequestHandler, Response } from "express";
import { encodingFor } from "../answers/encoding";

export type Policy = Readonly<Record<string, string>>;

export const BASE_POLICY: Policy = {
  "default-src": "'none'",
  "script-src": "'self'",
  "img-src": "'self' data:",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
};

const header = (policy: Policy) =>
  Object.entries(policy)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join("; ");

/** Endings of the compressed copies that the build writes beside a file. */
const COPIES: Readonly<Record<string, string>> = { br: ".br", gzip: ".gz" };

/** Sends a file of the build, or its compressed copy in the encoding that the client prefers. */
export function send(
  request: Request,
  response: Response,
  next: NextFunction,
  root: string,
  file: string,
): void {
  const copies = Object.keys(COPIES).filter((encoding) => existsSync(join(root, file + COPIES[encoding])));
  const encoding = encodingFor(request, copies);
  response.vary("Accept-Encoding").type(extname(file));
  if (encoding !== undefined) response.set("Content-Encoding", encoding);
  const sent = file + (encoding === undefined ? "" : COPIES[encoding]);
  const stats = statSync(join(root, sent), { throwIfNoEntry: false });
  if (stats) response.set("ETag", etag(stats)); // the app's own setting omits it
  response.sendFile(sent, { root, cacheControl: false }, (error?: NodeJS.ErrnoException) => {
    if (!error || response.headersSent) return;
    for (const name of ["Content-Encoding", "ETag"]) response.removeHeader(name);
    response.set("Cache-Control", "no-store");
    if ("status" in error && error.status === 416) return void response.status(416).end();
    if (error.code !== "ENOENT") return next(error);
    response.status(503).type("text/plain");
    response.send("This page is not built yet: run `npm run build`.\n");
  });
}

/** Sets the headers of a page. Framing is denied unless the policy has `frame-ancestors`. */
export function setPolicy(response: Response, policy: Policy): void {
  response.set({
    "Content-Security-Policy": header(policy),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
  });
  if (policy["frame-ancestors"] === "'none'") response.set("X-Frame-Options", "DENY");
  else for (const name of ["X-Frame-Options", "Cross-Origin-Opener-Policy"]) response.removeHeader(name);
}

export const page =
  (root: string, file: string, policy: Policy) =>
  (request: Request, response: Response, next: NextFunction) => {
    setPolicy(response, policy);
    send(request, response, next, root, file);
  };

/** Path of an asset, in the folder of its version. */
const ASSET = /^\/(?:([0-9a-f]{16})\/)?(\w[\w.-]*(?:\/\w[\w.-]*)*)$/;

/**
 * Serves the assets of a page. Their address contains the version of the build, so they never change. An asset of
 * another version is answered by that of this one: during an upgrade, servers of both versions answer the same page.
 */
export function assets(root: string): RequestHandler {
  return (request, response, next) => {
    const [, version = "", name = ""] = ASSET.exec(request.path) ?? [];
    if (name === "" || !["GET", "HEAD"].includes(request.method)) return next();
    const isOfBuild = version !== "" && existsSync(join(root, version, name));
    const served = isOfBuild ? version : builtVersions(root).find((it) => existsSync(join(root, it, name)));
    if (served === undefined) return next();
    response.set("Cache-Control", isOfBuild ? "public, max-age=31536000, immutable" : "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    send(request, response, next, root, join(served, name));
  };
}

const builtVersions = (root: string): string[] => (existsSync(root) ? readdirSync(root) : []);
