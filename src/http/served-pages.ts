import { static as staticFiles, type NextFunction, type Request, type Response } from "express";
import { basename } from "node:path";

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

/** Names of chunks change with their content; other files are revalidated on each request. */
function cacheForAsset(response: Response, file: string) {
  const immutable = basename(file).startsWith("chunk-");
  response.set("Cache-Control", immutable ? "public, max-age=31536000, immutable" : "no-cache");
  response.set("X-Content-Type-Options", "nosniff");
}

export function send(response: Response, next: NextFunction, root: string, file: string) {
  response.sendFile(file, { root, cacheControl: false }, (error?: NodeJS.ErrnoException) => {
    if (!error || response.headersSent) return;
    if (error.code !== "ENOENT") return next(error);
    response.status(503).set("Cache-Control", "no-store").type("text/plain");
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
  (_request: Request, response: Response, next: NextFunction) => {
    setPolicy(response, policy);
    send(response, next, root, file);
  };

export const assets = (root: string) =>
  staticFiles(root, { index: false, redirect: false, cacheControl: false, setHeaders: cacheForAsset });
