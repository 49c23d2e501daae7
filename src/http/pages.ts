import { Router, type Request } from "express";
import { join } from "node:path";
import { assets, NOTHING_ELSE, page, send, type Policy } from "./served-pages";

export interface PagesOptions {
  /** Where `src/explorer/build.mjs` puts its bundles: `dist/public`. */
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

// A page asked for by a person: the "anything" that curl and fetch accept counts as JSON.
const wantsPage = (request: Request) =>
  request.query.query === undefined && request.accepts(["json", "html"]) === "html";

/** The pages for people: GraphiQL at /graphql, Swagger UI at /rest/docs. Mounted before both APIs. */
export function pages({ publicDir }: PagesOptions): Router {
  const explorer = page(publicDir, "pages/explorer.html", EXPLORER_POLICY);
  const router = Router();
  router.get("/graphql", (request, response, next) => {
    response.vary("Accept");
    if (wantsPage(request)) explorer(request, response, next);
    else next();
  });
  router.get("/rest/docs", page(publicDir, "pages/docs.html", DOCS_POLICY));
  router.get("/favicon.ico", (_request, response, next) => {
    response.set({ "Cache-Control": "public, max-age=86400", "X-Content-Type-Options": "nosniff" });
    send(response, next, publicDir, "explorer/favicon.svg");
  });
  router.use("/assets/explorer", assets(join(publicDir, "explorer")));
  router.use("/assets/docs", assets(join(publicDir, "docs")));
  return router;
}
