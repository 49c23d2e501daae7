import type { RequestListener, Server } from "node:http";
import { join } from "node:path";
import express, { type ErrorRequestHandler } from "express";
import { getOperationAST, lexicographicSortSchema, printSchema } from "graphql";
import type { Logger } from "pino";
import { compileRoute } from "../../rest-compat/compile";
import { errorBody, type ErrorBody } from "../../rest-compat/errors";
import { openApi, routesTable } from "../../rest-compat/openapi";
import { routes } from "../../rest-compat/routes/index";
import { refuseMethod, sendError, restRouter, type House } from "../../rest-compat/router";
import { coerce, Engine } from "../../rest-compat/run";
import { buildSchema } from "../../schema/build";
import { makeContext, type Context } from "../../schema/core/context";
import { loadCatalog, type Catalog } from "../platform/catalog/load-catalog";
import { readConfig, type Config } from "../platform/settings/config";
import type { Database } from "../platform/database/database";
import { DomainError, invalid } from "../platform/errors";
import { clientAddress } from "../http/client-address";
import { begin, READ_ONLY, requestId } from "../http/common";
import { withDeclaredTypes } from "../http/declared-types";
import { downloads } from "../http/downloads";
import { Drain } from "../http/drain";
import { engineCallbacks } from "../http/engine-callbacks";
import { apolloServer } from "../http/graphql";
import { graphqlHandler } from "../http/graphql-handler";
import { health } from "../http/health";
import { foreignOrigin } from "../http/origin";
import { pages } from "../http/pages";
import { recordings } from "../http/recordings";
import { refusalOf } from "../http/refusal";
import { sendJson } from "../http/send-json";
import { shownBy } from "../http/shown-error";
import { requestLog } from "../http/request-log";
import { anonymousSettings, settingsOpenTo } from "../http/settings-door";
import { smsIntercept } from "../http/sms-intercept";
import { start } from "../http/start";
import { VisitorLimits } from "../http/visitor-limits";
import { unreadable } from "../http/unreadable";
import { subscriptions } from "../http/websocket";
import { widgetPages } from "../http/widget-pages";
import { Idempotency } from "../account/organization/idempotency";
import { openService, type Service } from "./open-service";

/** Everything a running service is made of. */
export interface App {
  readonly server: Server;
  readonly database: Database;
  /** Whether this server sees the installation's files. */
  readonly filesInReach: () => Promise<boolean>;
  /** Takes no new requests and lets those that run finish; resolves when nothing is open any more. */
  close(): Promise<void>;
}

/** Bundles of the pages; both the compiled and the TypeScript form of this file find them. */
const publicDir = join(process.cwd(), "dist", "public");

/**
 * Puts the house together on a migrated database.
 * @param jobsUrl the same database as the role that takes jobs
 */
export async function createApp(config: Config, url: string, logger: Logger, jobsUrl = url): Promise<App> {
  const service = await openService(config, url, logger, jobsUrl);
  const { server, database, fileStore } = service;
  const { answer, stop } = await compose(service);
  server.on("request", answer).on("clientError", unreadable(errorBody));
  server.on("checkExpectation", answer); // one that nobody knows is no reason to refuse a request
  return {
    server,
    database,
    filesInReach: () => fileStore.inReach(),
    close: async () => {
      await stop();
      await service.close();
    },
  };
}

/** Both faces, compiled: the schema, and the REST rows on it. */
export function faces(catalog: Catalog, config: Pick<Config, "VOICE_ENGINE" | "TELEPHONY_PROVIDER">) {
  const schema = buildSchema(catalog);
  const engine = new Engine(schema);
  const segments = { voice_engine: config.VOICE_ENGINE, telephony_provider: config.TELEPHONY_PROVIDER };
  return { schema, engine, rows: routes.map((row) => compileRoute(engine, row, segments)) };
}

/** The documents that are generated and committed, by path; a test keeps them fresh. */
export function generatedDocuments(): Readonly<Record<string, string>> {
  const { schema, rows } = faces(loadCatalog(), readConfig({}));
  return {
    "schema/schema.graphql": `${printSchema(lexicographicSortSchema(schema))}\n`,
    "rest-compat/openapi.json": `${JSON.stringify(openApi(rows, schema), null, 2)}\n`,
    "rest-compat/ROUTES.md": routesTable(rows),
  };
}

async function compose(parts: Service): Promise<{ answer: RequestListener; stop: () => Promise<void> }> {
  const { config, database, ports, server } = parts;
  const compiled = faces(ports.catalog, config);
  const drain = new Drain(server);
  const answer = await routed(parts, compiled, drain.hasBegun);
  const sockets = subscriptions(server, {
    schema: compiled.schema,
    introspection: config.GRAPHQL_INTROSPECTION,
    credentials: parts.credentials,
    listener: parts.listener,
    makeContext: (caller, more) => makeContext(database, caller, more),
    limits: parts.limits,
    most: { address: config.SOCKETS_PER_ADDRESS, organization: config.SOCKETS_PER_ORGANIZATION },
    metrics: parts.metrics,
    format: shownBy(parts.logger),
  });
  return {
    answer,
    stop: async () => {
      await Promise.all([drain.begin(), sockets.close()]);
    },
  };
}

/** Everything that answers over HTTP, in the order in which it is asked. */
async function routed(
  parts: Service,
  { schema, engine, rows }: ReturnType<typeof faces>,
  draining: () => boolean,
): Promise<RequestListener> {
  const { logger, database, crypto, metrics, limits } = parts;
  const house = houseOf(parts);
  const rest = restRouter(house, rows);
  const app = express().disable("x-powered-by").disable("etag");
  app.use(health(database, parts.fileStore, draining));
  app.get("/metrics", metrics.page);
  app.use(limits.pages);
  app.use(pages({ publicDir }));
  app.use(widgetPages({ publicDir, scopeOf: (id) => database.scope(id), ...house }));
  const document = openApi(rows, schema);
  app.get("/rest/openapi.json", (_req, res) => void res.json(document));
  const graphql = await graphqlOf(parts, engine, house);
  app.use("/graphql", (req, res) => void graphql(req, res));
  app.use(downloads(database, crypto));
  if (!parts.ports.voice.engine.real) app.use(recordings());
  app.get("/", start);
  app.all(READ_ONLY, (req, res) => refuseMethod(house, req, res, ["get"]));
  app.use((req) => {
    throw new DomainError("NOT_FOUND", `There is nothing at ${req.path.slice(0, 200)}.`);
  });
  const failed: ErrorRequestHandler = (error: unknown, _req, res, _next) =>
    sendError(house, res, refusalOf(error), {});
  app.use(failed);
  const log = logger.isLevelEnabled("info") ? requestLog(logger) : undefined;
  return (req, res) => {
    begin(req, res);
    metrics.time(req, res);
    log?.(req, res);
    if (!req.headers.host && req.httpVersion === "1.1") return sendError(house, res, withoutHost);
    // Most requests are not for Express, which takes as long as all the rest of one.
    const reads = req.method === "GET" || req.method === "HEAD";
    if (!reads && /^\/graphql\/?(\?|$)/.test(req.url!)) void graphql(req, res);
    else void rest(req, res, () => void app(req, res));
  };
}

const withoutHost = invalid([{ path: "Host", message: "is required" }]);

/** A request that never came to be an operation: its error is where GraphQL clients look, and where all others do. */
function forGraphQL(body: ErrorBody) {
  const { message, code, requestId, details } = body;
  return { errors: [{ message, extensions: { code, requestId, ...(details && { details }) } }], ...body };
}

interface WholeHouse extends House {
  readonly defaultOrganization: () => Promise<string>;
}

function houseOf(parts: Service): WholeHouse {
  const { config, logger, database, credentials, ports, limits } = parts;
  const addressOf = clientAddress(config.TRUST_PROXY);
  const visits = new VisitorLimits(config.RATE_LIMIT_VISITOR, limits.sourceOf);
  const open = settingsOpenTo(config);
  let known: string | undefined;
  const defaultOrganization = async () => (known ??= await database.defaultOrganizationId()) ?? "";
  return {
    defaultOrganization,
    addressOf,
    authenticate: async (req, res, headers = req.headers) => {
      const caller = await credentials.caller(headers).catch(async (error: unknown) => {
        await limits.take(req, res, undefined);
        throw error;
      });
      await limits.take(req, res, caller);
      return caller;
    },
    anonymousSettings: async (req) =>
      anonymousSettings(req, open, ports.publicUrl(), await defaultOrganization()),
    visit: (req, res, caller) => ({
      origin: foreignOrigin(req, ports.publicUrl()),
      spend: (what) => visits.spend(req, res, caller, what),
    }),
    makeContext: (caller, options) => makeContext(database, caller, options),
    once: ({ scope, caller, source }, request, work) =>
      scope.of(Idempotency).once(request, work, { caller, source }),
    log: (error, id) => logger.error({ err: error, requestId: id }, "request failed"),
    requestId,
    sendJson,
    streams: {
      ...engineCallbacks({ ...parts, engine: ports.voice.engine, addressOf }),
      ...smsIntercept({ ...parts, addressOf }),
    },
    form: withDeclaredTypes,
    maxFileBytes: config.MAX_FILE_BYTES,
    lenient: config.REST_UNKNOWN_FIELDS === "ignore",
  };
}

/** POST and GET /graphql: Apollo, running what the engine compiled. */
async function graphqlOf({ config, logger }: Service, engine: Engine, house: House) {
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
      const caller = await house.authenticate(req, res);
      return house.makeContext(caller, {
        requestId: requestId(res),
        ...house.visit(req, res, caller),
        address: house.addressOf(req),
      });
    },
    askerOf: ({ scope }) => scope,
    requestId,
    maxFileBytes: config.MAX_FILE_BYTES,
    fail: (res, error) => sendError(house, res, refusalOf(error), { shape: forGraphQL }),
  });
}
