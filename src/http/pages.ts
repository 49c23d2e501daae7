import { Router, type Request, type RequestHandler } from "express";
import { join } from "node:path";
import { queryOf } from "./query";
import { assets, NOTHING_ELSE, page, send, type Policy } from "./served-pages";

export interface PagesOptions {
  /** Where `build.mjs` of each page puts its bundles: `dist/public`. */
  publicDir: string;
}

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

// A page asked for by a person: the "anything" that curl and fetch accept counts as JSON.
const wantsPage = (request: Request) =>
  !queryOf(request).has("query") && request.accepts(["json", "html"]) === "html";

/** Answers people at /graphql with GraphiQL, and leaves programs to what comes next. */
export function explorer({ publicDir }: PagesOptions): RequestHandler {
  const graphiql = page(publicDir, "pages/explorer.html", EXPLORER_POLICY);
  return (request, response, next) => {
    response.vary("Accept");
    if (wantsPage(request)) graphiql(request, response, next);
    else next();
  };
}

/** Swagger UI at /rest/docs, statistics at /analytics, and the files of all pages. */
export function pages({ publicDir }: PagesOptions): Router {
  const router = Router();
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
