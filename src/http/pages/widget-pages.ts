import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Router, type Request, type RequestHandler, type Response } from "express";
import type { WidgetVisitor } from "../../account/auth/caller";
import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import { demoAssistant, demoOf } from "../../channels/visitors/demo";
import { Widgets } from "../../channels/visitors/widgets";
import { targetOf } from "../../conversation/workflows/target";
import type { Callers } from "../callers/callers";
import { parameterOf, queryOf } from "./query";
import { assets, BASE_POLICY, page, send, setPolicy, type Policy } from "./served-pages";

export interface WidgetPagesOptions {
  readonly publicDir: string;
  readonly scopeOf: (organizationId: string) => Scope;
  readonly callers: Pick<Callers, "authenticate" | "anonymousSettings" | "defaultOrganization">;
}

const APPLICATION_POLICY: Policy = {
  ...BASE_POLICY,
  "style-src": "'self'",
  "img-src": "'self' data: https:",
  // Some browsers do not match 'self' with WebSockets to the same host.
  "connect-src": "'self' ws: wss:",
};
const DEMO_POLICY: Policy = { ...APPLICATION_POLICY, "frame-src": "'self'" };

const SECRET_KEY =
  "`publicKey` is a SECRET key, and a PUBLIC key is expected. Make this SECRET key inactive, because visitors can read it.";
/** Errors that replace the frame; it shows the others itself. */
const SHOWN: readonly string[] = ["RATE_LIMITED", "FORBIDDEN"];

/** `*` does not match pages opened from a local file, which people use to try the widget. */
const ANY_PAGE = "* file:";

/** Serves the widget's script, its frame, the call page and the demo page. */
export function widgetPages(options: WidgetPagesOptions): Router {
  const root = join(options.publicDir, "widget");
  const router = Router();
  router.get("/widget/companion-widget.js", (request, response, next) => {
    response.set({
      "Access-Control-Allow-Origin": "*",
      "Cache-Control": "no-cache",
      "X-Content-Type-Options": "nosniff",
    });
    send(request, response, next, root, "companion-widget.js");
  });
  router.get("/widget/frame", async (request, response, next) => {
    const origins = await framingOrigins(options, request, response);
    setPolicy(response, {
      ...APPLICATION_POLICY,
      "frame-ancestors": origins.length > 0 ? ["'self'", ...origins].join(" ") : ANY_PAGE,
    });
    send(request, response, next, root, "frame.html");
  });
  router.get("/widget/voice", page(root, "voice.html", APPLICATION_POLICY));
  router.get("/widget/demo", demoPage(options, root));
  router.post("/widget/demo/assistant", async (request, response) => {
    const { organizationId } = await options.callers.anonymousSettings(request);
    response.status(201).json(await demoAssistant(options.scopeOf(organizationId)));
  });
  router.use("/widget/assets", assets(join(root, "assets")));
  return router;
}

/**
 * Origins that may frame the assistant; none if the assistant does not exist, in which case every page may show the
 * error.
 * @throws RATE_LIMITED; FORBIDDEN for a SECRET key
 */
async function framingOrigins(
  { callers, scopeOf }: WidgetPagesOptions,
  request: Request,
  response: Response,
): Promise<readonly string[]> {
  const query = queryOf(request);
  const value = (name: string) => query.get(name) ?? undefined;
  try {
    const caller = await callers.authenticate(request, response, { "x-api-key": value("publicKey") });
    if (caller?.kind === "SECRET") throw new DomainError("FORBIDDEN", SECRET_KEY);
    if (caller?.kind !== "PUBLIC") return [];
    const target = targetOf({ assistantId: value("assistantId"), deploymentId: value("deploymentId") });
    const scope = scopeOf(caller.organizationId);
    return (await scope.of(Widgets).of(target as WidgetVisitor["target"])).allowedOrigins; // one of these two is set
  } catch (error) {
    if (error instanceof DomainError && !SHOWN.includes(error.code)) return [];
    throw error;
  }
}

/** Serves the demo page with its data embedded. */
const demoPage =
  ({ callers, scopeOf }: WidgetPagesOptions, root: string): RequestHandler =>
  async (request, response, next) => {
    setPolicy(response, DEMO_POLICY);
    const html = await readFile(join(root, "demo.html"), "utf8").catch(() => undefined);
    if (html === undefined) return send(request, response, next, root, "demo.html");
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
      .send(html.replace(DATA_ELEMENT, () => DATA_ELEMENT.replace("null", () => data)));
  };

/** Placeholder for the data in the page's file. */
const DATA_ELEMENT = '<script type="application/json" id="demo-data">null</script>';
