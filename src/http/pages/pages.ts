import { Router, type Request, type RequestHandler } from "express";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { queryOf } from "./query";
import { assets, BASE_POLICY, page, send, type Policy } from "./served-pages";

export interface PagesOptions {
  /** Output folder of each page's `build.mjs`: `dist/public`. */
  publicDir: string;
}

const EXPLORER_POLICY: Policy = {
  ...BASE_POLICY,
  // Monaco uses style elements for colors and positions.
  "style-src": "'self' 'unsafe-inline'",
  "font-src": "'self' data:",
  "worker-src": "'self' blob:",
  // Some browsers do not match 'self' with WebSockets to the same host.
  "connect-src": "'self' ws: wss:",
};

const DOCS_POLICY: Policy = {
  ...BASE_POLICY,
  "style-src": "'self' 'unsafe-inline'",
  "connect-src": "'self'",
};

/** Pages whose styles are all in files: the documentation and analytics. */
const OWN_STYLES_POLICY: Policy = {
  ...BASE_POLICY,
  "style-src": "'self'",
  "connect-src": "'self'",
};

// Whether a person asked for a page: the "*/*" of curl and fetch counts as JSON.
const wantsPage = (request: Request) =>
  !queryOf(request).has("query") && request.accepts(["json", "html"]) === "html";

/** Serves GraphiQL at /graphql to browsers; other requests go to the next handler. */
export function explorer({ publicDir }: PagesOptions): RequestHandler {
  const graphiql = page(publicDir, "pages/explorer.html", EXPLORER_POLICY);
  return (request, response, next) => {
    response.vary("Accept");
    if (wantsPage(request)) graphiql(request, response, next);
    else next();
  };
}

/** Serves the documentation at /docs, Swagger UI at /rest/docs, analytics at /analytics, and the assets of all pages. */
export function pages({ publicDir }: PagesOptions): Router {
  const router = Router();
  router.get("/rest/docs", page(publicDir, "pages/docs.html", DOCS_POLICY));
  router.get("/analytics", page(publicDir, "pages/analytics.html", OWN_STYLES_POLICY));
  router.get("/docs", page(publicDir, "documentation/index.html", OWN_STYLES_POLICY));
  router.get("/docs/:name", documentation(publicDir));
  router.get("/favicon.ico", (request, response, next) => {
    response.set({ "Cache-Control": "public, max-age=86400", "X-Content-Type-Options": "nosniff" });
    send(request, response, next, publicDir, "favicon.svg");
  });
  router.use("/assets/explorer", assets(join(publicDir, "explorer")));
  router.use("/assets/docs", assets(join(publicDir, "docs")));
  router.use("/assets/analytics", assets(join(publicDir, "analytics")));
  router.use("/docs/assets", assets(join(publicDir, "documentation", "assets")));
  return router;
}

/** Serves a page of the documentation, also by the name of its source file. Other names go to the next handler. */
const documentation =
  (publicDir: string): RequestHandler<{ name: string }> =>
  (request, response, next) => {
    const [, name, extension] = /^([a-z-]+)(\.md)?$/.exec(request.params.name) ?? [];
    const file = `documentation/${name}.html`;
    if (name === undefined || !existsSync(join(publicDir, file))) return next();
    if (extension) return response.redirect(301, `/docs/${name}`);
    page(publicDir, file, OWN_STYLES_POLICY)(request as Request, response, next);
  };
