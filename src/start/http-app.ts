import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";
import type { ErrorRequestHandler, Request, RequestHandler, Response, Router } from "express";
import type { GraphQLSchema } from "graphql";
import type { CompiledRoute } from "../../rest-compat/compile";
import { fileSchemas } from "../../rest-compat/file-schemas";
import { atAddress, openApi } from "../../rest-compat/openapi";
import { restRouter } from "../../rest-compat/router";
import { routes } from "../../rest-compat/routes/index";
import type { Engine } from "../../rest-compat/run";
import { pathSuggester } from "../../rest-compat/suggest-path";
import type { RestServer } from "../../rest-compat/server";
import { makeContext } from "../../schema/core/context";
import { EVENT_CONTRACTS } from "../events/schemas/payloads";
import { eventDocuments } from "../http/pages/event-documents";
import { fileSchemaPages } from "../http/pages/file-schemas";
import { answeredBy } from "../account/organization/answered-by";
import { Idempotency } from "../account/organization/idempotency";
import { allowAnyOrigin, harden, identify, requestId } from "../http/answers/answer-headers";
import { Callers } from "../http/callers/callers";
import { certificatePages } from "../http/pages/certificate";
import { compress } from "../http/answers/compress";
import { ConcurrencyLimit } from "../platform/concurrency-limit";
import { downloads } from "../http/pages/downloads";
import type { EventStreams } from "../http/streams/event-streams";
import { engineCallbacks } from "../http/callbacks/engine-callbacks";
import { errorShapeAt } from "../http/graphql/graphql-errors";
import { health, readinessOf, UNREACHABLE } from "../http/health";
import { explorer, pages } from "../http/pages/pages";
import type { PersistedOperations } from "../http/graphql/persisted-operations";
import { recordings } from "../http/pages/recordings";
import { toDomainError } from "../http/errors/parser-errors";
import { refuseMethod } from "../http/errors/refuse-method";
import { requestLog } from "../http/request-log";
import { requireHost, useOriginForm } from "../http/request-target";
import { errorSender, type SendError } from "../http/errors/send-error";
import { smsIntercept } from "../http/callbacks/sms-intercept";
import { home } from "../http/pages/home";
import { traceRequests } from "../http/trace-requests";
import { widgetPages } from "../http/pages/widget-pages";
import type { Database } from "../platform/database/database";
import { DomainError } from "../platform/errors";
import { tracing } from "../platform/tracing/tracing";
import { ROOT } from "../platform/root";
import { METRICS, readOnlyPaths } from "./read-only";
import { mcpOf } from "./serve-mcp";
import type { Service } from "./open-service";
import { graphqlOf, type Serving } from "./serve-graphql";

/** The GraphQL schema and the REST routes compiled against it. */
export interface Interfaces {
  readonly schema: GraphQLSchema;
  readonly engine: Engine;
  readonly rows: readonly CompiledRoute[];
  readonly persisted?: PersistedOperations | undefined;
}

/** Bundles of the pages. */
const PUBLIC_DIR = join(ROOT, "dist", "public");
/** Written by `npm run certificate`. */
const CERTIFICATE = join(ROOT, "dist", "certificate.json");

/**
 * Operations at once, through both interfaces. More at once end no sooner, but what they have read then survives garbage
 * collections: over 32 connections, 690 dashboards a second are answered instead of 450. An operation of more than 100 ms
 * probably waits for a model.
 */
const OPERATIONS = { atOnce: 12, countedMs: 100 };
/** Of these, operations that cost many points: the slowest 1 % of dashboards take 115 ms instead of 187 (`bench -- peers`). */
const LARGE_OPERATIONS = { atOnce: 4, countedMs: 100 };
/** Points of a large operation: a dashboard of 20 assistants costs 240. */
const LARGE_COST = 100;

/** Refuses methods other than GET; what no page has answered is not found. */
const refuseOthers: RequestHandler = (req, res, next) =>
  req.method === "GET" || req.method === "HEAD" ? next() : refuseMethod(req, res, ["get"]);

const postOnly: RequestHandler = (req, res, next) =>
  req.method === "POST" ? next() : refuseMethod(req, res, ["post"]);

/** Handles every HTTP request with the first matching handler below. WebSockets are handled by the server itself. */
export async function httpApp(
  service: Service,
  interfaces: Interfaces & { readonly streams: EventStreams },
  isDraining: () => boolean,
): Promise<RequestListener> {
  const { database, crypto, metrics, limits, ports } = service;
  const { schema, engine, rows, persisted, streams } = interfaces;
  const serving = servingOf(service, isDraining);
  const { callers, sendError } = serving;
  const app = service.app.disable("x-powered-by").disable("etag").disable("query parser");

  const first = firstOf(service);
  app.use(first, requireHost);
  app.use(restRouter(restServer(service, serving), rows));
  app.get("/graphql", explorer({ publicDir: PUBLIC_DIR }));
  app.use("/graphql", await graphqlOf(service, engine, { ...serving, persisted, streams }));
  app.use("/mcp", mcpOf(service, engine, serving));

  app.options(readOnlyPaths(ports.voice.engine), refuseOthers); // Express's routers would answer with a body
  app.all("/widget/demo/assistant", postOnly);
  app.use(compress, healthOf(service, isDraining));
  app.get(METRICS, metrics.page).use(limits.pages);
  app.use(pages({ publicDir: PUBLIC_DIR }), certificatePages(CERTIFICATE, schema, routes));
  app.use(widgetPages({ publicDir: PUBLIC_DIR, scopeOf: (id) => database.scope(id), callers }));
  app.get("/rest/openapi.json", restDocument(interfaces, ports.publicUrl));
  app.use(schemaDocuments(service, schema), downloads(database, crypto));
  if (!ports.voice.engine.real) app.use(recordings());
  app.get("/", home({ voice: ports.voice, answers: () => publicAnswers(database) }));

  app.all(readOnlyPaths(ports.voice.engine), refuseOthers);
  const noSuchPath = unknownPath(pathSuggester(rows));
  app.use(refuseUnknown(noSuchPath));
  app.use(((error, req, res, _next) =>
    sendError(res, toDomainError(error), errorShapeAt(req, res))) satisfies ErrorRequestHandler);
  const answer: Answer = app;
  return (req, res) => {
    useOriginForm(req);
    answer(req, res, finalHandler(req as Request, res as Response, first, sendError, noSuchPath));
  };
}

function healthOf({ database, fileStore, metrics, steps }: Service, isDraining: () => boolean): Router {
  const readiness = readinessOf(database, fileStore, isDraining);
  metrics.watchReadiness(async () => {
    const { ready, results } = await readiness();
    return { ready, databaseAnswers: results.database !== UNREACHABLE };
  });
  return health(readiness, database, isDraining, () => steps.pending());
}

function servingOf(service: Service, isDraining: () => boolean): Serving {
  const large = new ConcurrencyLimit(LARGE_OPERATIONS);
  return {
    callers: new Callers({ ...service, publicUrl: service.ports.publicUrl }),
    sendError: errorSender(service.logger),
    limited: new ConcurrencyLimit(OPERATIONS).run,
    largeLimited: (cost, work) => (cost < LARGE_COST ? work() : large.run(work)),
    isDraining,
  };
}

/** The OpenAPI document. It is made for the first who asks, because that takes a seventh of the CPU time of a start. */
function restDocument({ rows, schema }: Interfaces, publicUrl: () => string): RequestHandler {
  let document: string | undefined;
  return (_req, res) => {
    document ??= JSON.stringify(openApi(rows, schema, EVENT_CONTRACTS));
    res.type("json").send(atAddress(document, publicUrl()));
  };
}

/** What events and files contain. */
const schemaDocuments = ({ config, ports }: Service, schema: GraphQLSchema) => [
  eventDocuments(ports.publicUrl),
  fileSchemaPages(() => fileSchemas(schema, config.MAX_FILE_BYTES), ports.publicUrl),
];

const publicAnswers = async (database: Database): Promise<string> =>
  answeredBy(database.scope((await database.defaultOrganizationId()) ?? ""), "public");

/** The handlers that every request passes first. */
const firstOf = ({ logger, metrics }: Service): RequestHandler[] => [
  ...[identify, harden, allowAnyOrigin, metrics.time],
  ...(tracing.tracer ? [traceRequests] : []),
  ...(logger.isLevelEnabled("info") ? [requestLog(logger)] : []),
];

type Answer = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

/**
 * Replaces Express's final handler, which answers HTML. Express calls it if no other handler answers, and before all
 * other handlers for a URL that it cannot parse.
 * @param first the handlers that every request passes
 */
const finalHandler =
  (
    req: Request,
    res: Response,
    first: readonly RequestHandler[],
    sendError: SendError,
    noSuchPath: NoSuchPath,
  ) =>
  (error?: unknown) => {
    if (!res.hasHeader("X-Request-Id")) for (const handler of first) void handler(req, res, () => undefined);
    sendError(res, error ?? noSuchPath(req.url));
  };

type NoSuchPath = (path: string) => DomainError;

const refuseUnknown =
  (noSuchPath: NoSuchPath): RequestHandler =>
  ({ path }) => {
    throw noSuchPath(path);
  };

const unknownPath =
  (suggest: (path: string) => string | undefined): NoSuchPath =>
  (path) => {
    const meant = suggest(path.split("?", 1)[0]!);
    const guess = meant === undefined ? "" : ` Did you mean ${meant}?`;
    return new DomainError(
      "NOT_FOUND",
      `No such path: ${path.slice(0, 200)}.${guess} /rest/docs lists the paths of REST, /docs the documentation.`,
    );
  };

/** The services that REST needs from this server. */
function restServer(
  service: Service,
  { callers, limited, largeLimited, sendError, isDraining }: Serving,
): RestServer {
  const { config, database, ports } = service;
  const { addressOf } = callers;
  return {
    callers,
    limited,
    largeLimited,
    contextOf: ({ req, res, auth, caller }, scope, attemptId) =>
      makeContext(database, caller, {
        requestId: requestId(res),
        interface: "REST",
        address: addressOf(req),
        ...(auth === "public" && callers.visit(req, res, caller)),
        scope,
        attemptId,
      }),
    once: ({ scope, caller, source }, request, work) =>
      scope.of(Idempotency).once(request, work, { caller, source, isDraining }),
    streams: {
      ...engineCallbacks({ ...service, engine: ports.voice.engine, addressOf }),
      ...smsIntercept({ ...service, addressOf }),
    },
    sendError,
    maxFileBytes: config.MAX_FILE_BYTES,
    lenient: config.REST_UNKNOWN_FIELDS === "ignore",
  };
}
