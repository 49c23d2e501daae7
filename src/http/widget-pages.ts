import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Router, type Request, type RequestHandler, type Response } from "express";
import type { WidgetVisitor } from "../account/auth/caller";
import type { Scope } from "../platform/database/scope";
import { DomainError } from "../platform/errors";
import { demoAssistant, demoOf } from "../channels/visitors/demo";
import { Widgets } from "../channels/visitors/widgets";
import { targetOf } from "../conversation/workflows/target";
import type { Callers } from "./callers";
import { parameterOf, queryOf } from "./query";
import { assets, NOTHING_ELSE, page, send, setPolicy, type Policy } from "./served-pages";

export interface WidgetPagesOptions {
  readonly publicDir: string;
  readonly scopeOf: (organizationId: string) => Scope;
  readonly callers: Pick<Callers, "authenticate" | "anonymousSettings" | "defaultOrganization">;
}

const APPLICATION: Policy = {
  ...NOTHING_ELSE,
  "style-src": "'self'",
  "img-src": "'self' data: https:",
  // Not every browser counts a socket to the same host as 'self'.
  "connect-src": "'self' ws: wss:",
};
const DEMO: Policy = { ...APPLICATION, "frame-src": "'self'" };

/** `*` leaves out a page that was opened from a file, as one is tried out. */
const ANY_PAGE = "* file:";
const SCRIPT = "/widget/companion-widget.js";

const openToAll: RequestHandler = (_request, response, next) => {
  response.set("Access-Control-Allow-Origin", "*");
  next();
};

/** The script for web pages, the application in its frame, and the pages to talk and to try on. */
export function widgetPages(options: WidgetPagesOptions): Router {
  const root = join(options.publicDir, "widget");
  const router = Router();
  router.use(SCRIPT, openToAll, assets(join(root, "companion-widget.js")));
  router.get(SCRIPT, (_request, response, next) => send(response, next, root, "companion-widget.js"));
  router.get("/widget/frame", async (request, response, next) => {
    const origins = await framingOrigins(options, request, response);
    setPolicy(response, {
      ...APPLICATION,
      "frame-ancestors": origins.length > 0 ? ["'self'", ...origins].join(" ") : ANY_PAGE,
    });
    send(response, next, root, "frame.html");
  });
  router.get("/widget/voice", page(root, "voice.html", APPLICATION));
  router.get("/widget/demo", demoPage(options, root));
  router.post("/widget/demo/assistant", async (request, response) => {
    const { organizationId } = await options.callers.anonymousSettings(request);
    response.status(201).json(await demoAssistant(options.scopeOf(organizationId)));
  });
  router.use("/widget/assets", assets(join(root, "assets")));
  return router;
}

/** Whose pages may show the assistant; none where there is no such assistant: the page says so then, to everybody. */
async function framingOrigins(
  { callers, scopeOf }: WidgetPagesOptions,
  request: Request,
  response: Response,
): Promise<readonly string[]> {
  const asked = queryOf(request);
  const value = (name: string) => asked.get(name) ?? undefined;
  try {
    const caller = await callers.authenticate(request, response, { "x-api-key": value("publicKey") });
    if (caller?.kind !== "PUBLIC") return [];
    const target = targetOf({ assistantId: value("assistantId"), deploymentId: value("deploymentId") });
    const scope = scopeOf(caller.organizationId);
    return (await scope.of(Widgets).of(target as WidgetVisitor["target"])).allowedOrigins; // one of these two
  } catch (error) {
    if (error instanceof DomainError && error.code !== "RATE_LIMITED") return [];
    throw error;
  }
}

/** The page to try on, with what it needs in it. */
const demoPage =
  ({ callers, scopeOf }: WidgetPagesOptions, root: string): RequestHandler =>
  async (request, response, next) => {
    setPolicy(response, DEMO);
    const html = await readFile(join(root, "demo.html"), "utf8").catch(() => undefined);
    if (html === undefined) return send(response, next, root, "demo.html");
    const trusted = await callers.anonymousSettings(request).then(
      () => true,
      () => false,
    );
    const named = parameterOf(request, "assistantId");
    const demo = await demoOf(scopeOf(await callers.defaultOrganization()), named, trusted);
    const data = JSON.stringify(demo).replaceAll("<", "\\u003c");
    response
      .set("Cache-Control", "no-store")
      .type("html")
      .send(html.replace(EMPTY, () => EMPTY.replace("null", () => data)));
  };

/** Where the page's data stands in its file. */
const EMPTY = '<script type="application/json" id="demo-data">null</script>';
