import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";
import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";
import { getOperationAST, type GraphQLSchema } from "graphql";
import type { CompiledRoute } from "../../rest-compat/compile";
import { openApi } from "../../rest-compat/openapi";
import { restRouter } from "../../rest-compat/router";
import { coerce, type Engine } from "../../rest-compat/run";
import type { RestServer } from "../../rest-compat/server";
import { makeContext, type Context } from "../../schema/core/context";
import { Idempotency } from "../account/organization/idempotency";
import { allowAnyOrigin, harden, identify, requestId } from "../http/answer-headers";
import { Callers } from "../http/callers";
import { downloads } from "../http/downloads";
import { engineCallbacks } from "../http/engine-callbacks";
import { apolloServer } from "../http/graphql";
import { graphqlHandler } from "../http/graphql-handler";
import { health } from "../http/health";
import { explorer, pages } from "../http/pages";
import { recordings } from "../http/recordings";
import { refusalOf } from "../http/refusal";
import { refuseMethod } from "../http/refuse-method";
import { requestLog } from "../http/request-log";
import { errorSender, type SendError } from "../http/send-error";
import { shownBy } from "../http/shown-error";
import { smsIntercept } from "../http/sms-intercept";
import { start } from "../http/start";
import { widgetPages } from "../http/widget-pages";
import { DomainError, invalid } from "../platform/errors";
import type { Service } from "./open-service";

/** The schema, and the REST rows compiled against it. */
export interface Interfaces {
  readonly schema: GraphQLSchema;
  readonly engine: Engine;
  readonly rows: readonly CompiledRoute[];
}

/** Bundles of the pages; both the compiled and the TypeScript form of this file find them. */
const PUBLIC_DIR = join(process.cwd(), "dist", "public");

/** Paths beside the REST rows that take GET only. */
const READ_ONLY = [
  "/",
  "/rest/docs",
  "/rest/openapi.json",
  "/analytics",
  "/files/:organizationId/:id",
  "/exports/:organizationId/:id",
  "/health/live",
  "/health/ready",
  "/metrics",
];

/** Answers every HTTP request, by the first handler below that takes it. WebSockets are opened by the server itself. */
export async function httpApp(
  parts: Service,
  interfaces: Interfaces,
  draining: () => boolean,
): Promise<RequestListener> {
  const { logger, database, crypto, metrics, limits, ports } = parts;
  const { schema, engine, rows } = interfaces;
  const sendError = errorSender(logger);
  const callers = new Callers({ ...parts, publicUrl: ports.publicUrl });
  const document = openApi(rows, schema);
  const app = parts.app.disable("x-powered-by").disable("etag").disable("query parser");

  const first = [identify, harden, allowAnyOrigin, metrics.time];
  if (logger.isLevelEnabled("info")) first.push(requestLog(logger));
  app.use(first, requireHost);

  app.use(restRouter(restServer(parts, callers, sendError), rows));
  app.get("/graphql", explorer({ publicDir: PUBLIC_DIR }));
  app.use("/graphql", await graphqlOf(parts, engine, callers, sendError));

  app.use(health(database, parts.fileStore, draining));
  app.get("/metrics", metrics.page);

  app.use(limits.pages);
  app.use(pages({ publicDir: PUBLIC_DIR }));
  app.use(widgetPages({ publicDir: PUBLIC_DIR, scopeOf: (id) => database.scope(id), callers }));
  app.get("/rest/openapi.json", (_req, res) => void res.json(document));
  app.use(downloads(database, crypto));
  if (!ports.voice.engine.real) app.use(recordings());
  app.get("/", start);

  app.all(READ_ONLY, (req, res) => refuseMethod(req, res, ["get"]));
  app.use(nothingHere);
  app.use(((error, _req, res, _next) => sendError(res, refusalOf(error))) satisfies ErrorRequestHandler);
  const answer: Answer = app;
  return (req, res) => answer(req, res, lastResort(req as Request, res as Response, first, sendError));
}

type Answer = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

/**
 * Replaces Express's last handler, which answers HTML. Express calls it when no other is left, and before any other for a
 * URL that it cannot parse.
 * @param first the handlers that every request goes through
 */
const lastResort =
  (req: Request, res: Response, first: readonly RequestHandler[], sendError: SendError) =>
  (error?: unknown) => {
    if (!res.hasHeader("X-Request-Id")) for (const handler of first) void handler(req, res, () => undefined);
    sendError(res, error ?? nothingAt(req.url));
  };

const nothingAt = (path: string) =>
  new DomainError("NOT_FOUND", `There is nothing at ${path.slice(0, 200)}.`);

const nothingHere: RequestHandler = ({ path }) => {
  throw nothingAt(path);
};

/** Node's own check is off, as it would answer with an empty body. */
const requireHost: RequestHandler = (req, _res, next) => {
  if (!req.headers.host && req.httpVersion === "1.1")
    throw invalid([{ path: "Host", message: "is required" }]);
  next();
};

/** The parts of this server that REST needs. */
function restServer(parts: Service, callers: Callers, sendError: SendError): RestServer {
  const { config, database, ports } = parts;
  const { addressOf } = callers;
  return {
    callers,
    contextOf: ({ req, res, auth, caller }, scope) =>
      makeContext(database, caller, {
        requestId: requestId(res),
        interface: "REST",
        address: addressOf(req),
        ...(auth === "public" && callers.visit(req, res, caller)),
        scope,
      }),
    once: ({ scope, caller, source }, request, work) =>
      scope.of(Idempotency).once(request, work, { caller, source }),
    streams: {
      ...engineCallbacks({ ...parts, engine: ports.voice.engine, addressOf }),
      ...smsIntercept({ ...parts, addressOf }),
    },
    sendError,
    maxFileBytes: config.MAX_FILE_BYTES,
    lenient: config.REST_UNKNOWN_FIELDS === "ignore",
  };
}

/** GraphQL over HTTP: Apollo, running documents that the engine of REST compiles. */
async function graphqlOf(
  { config, database, logger }: Service,
  engine: Engine,
  callers: Callers,
  sendError: SendError,
): Promise<RequestHandler> {
  const { schema } = engine;
  const apollo = apolloServer<Context>({
    schema,
    introspection: config.GRAPHQL_INTROSPECTION,
    compile: (document, operationName) => {
      const operation = getOperationAST(document, operationName)!; // Apollo has found it before
      return {
        coerce: (values) => coerce(schema, operation, values),
        run: engine.compile(document, operationName),
      };
    },
    warnings: ({ scope }) => scope.warnings,
    format: shownBy(logger),
  });
  await apollo.start();
  return graphqlHandler({
    apollo,
    context: async (req, res) => {
      const caller = await callers.authenticate(req, res);
      return makeContext(database, caller, {
        requestId: requestId(res),
        address: callers.addressOf(req),
        ...callers.visit(req, res, caller),
      });
    },
    askerOf: ({ scope }) => scope,
    maxFileBytes: config.MAX_FILE_BYTES,
    sendError,
  });
}
