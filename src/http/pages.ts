import { Router, static as staticFiles, type NextFunction, type Request, type Response } from "express";
import { basename, join } from "node:path";

export interface PagesOptions {
  /** Where `build.mjs` of each page puts its bundles: `dist/public`. */
  publicDir: string;
}

type Policy = Readonly<Record<string, string>>;

const NOTHING_ELSE: Policy = {
  "default-src": "'none'",
  "script-src": "'self'",
  "img-src": "'self' data:",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
};

const EXPLORER_POLICY: Policy = {
  ...NOTHING_ELSE,
  // Monaco sets its colours and positions in style elements.
  "style-src": "'self' 'unsafe-inline'",
  "font-src": "'self' data:",
  "worker-src": "'self' blob:",
  // Not every browser counts a socket to the same host as 'self'.
  "connect-src": "'self' ws: wss:",
};

const DOCS_POLICY: Policy = {
  ...NOTHING_ELSE,
  "style-src": "'self' 'unsafe-inline'",
  "connect-src": "'self'",
};

const ANALYTICS_POLICY: Policy = {
  ...NOTHING_ELSE,
  "style-src": "'self'",
  "connect-src": "'self'",
};

const header = (policy: Policy) =>
  Object.entries(policy)
    .map(([directive, sources]) => `${directive} ${sources}`)
    .join("; ");

// A page asked for by a person: the "anything" that curl and fetch accept counts as JSON.
const wantsPage = (request: Request) =>
  request.query.query === undefined && request.accepts(["json", "html"]) === "html";

/** Names of chunks change with their contents; all others are asked after each time, and answered 304. */
function cacheForAsset(response: Response, file: string) {
  const immutable = basename(file).startsWith("chunk-");
  response.set("Cache-Control", immutable ? "public, max-age=31536000, immutable" : "no-cache");
  response.set("X-Content-Type-Options", "nosniff");
}

function send(response: Response, next: NextFunction, root: string, file: string) {
  response.sendFile(file, { root, cacheControl: false }, (error?: NodeJS.ErrnoException) => {
    if (!error || response.headersSent) return;
    if (error.code !== "ENOENT") return next(error);
    response.status(503).set("Cache-Control", "no-store").type("text/plain");
    response.send("This page is not built yet: run `npm run build`.\n");
  });
}

const page =
  (root: string, file: string, policy: Policy) =>
  (_request: Request, response: Response, next: NextFunction) => {
    response.set({
      "Content-Security-Policy": header(policy),
      "X-Frame-Options": "DENY",
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-cache",
    });
    send(response, next, root, file);
  };

const assets = (root: string) =>
  staticFiles(root, { index: false, redirect: false, cacheControl: false, setHeaders: cacheForAsset });

/** The pages for people: GraphiQL at /graphql, Swagger UI at /rest/docs, statistics at /analytics. Mounted before both APIs. */
export function pages({ publicDir }: PagesOptions): Router {
  const explorer = page(publicDir, "pages/explorer.html", EXPLORER_POLICY);
  const router = Router();
  router.get("/graphql", (request, response, next) => {
    response.vary("Accept");
    if (wantsPage(request)) explorer(request, response, next);
    else next();
  });
  router.get("/rest/docs", page(publicDir, "pages/docs.html", DOCS_POLICY));
  router.get("/analytics", page(publicDir, "pages/analytics.html", ANALYTICS_POLICY));
  router.get("/favicon.ico", (_request, response, next) => {
    response.set({ "Cache-Control": "public, max-age=86400", "X-Content-Type-Options": "nosniff" });
    send(response, next, publicDir, "explorer/favicon.svg");
  });
  router.use("/assets/explorer", assets(join(publicDir, "explorer")));
  router.use("/assets/docs", assets(join(publicDir, "docs")));
  router.use("/assets/analytics", assets(join(publicDir, "analytics")));
  return router;
}
