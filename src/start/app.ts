import type { RequestListener, Server } from "node:http";
import { lexicographicSortSchema, printSchema, type GraphQLEnumType, type GraphQLSchema } from "graphql";
import type { Logger } from "pino";
import { compileRoute, validateRoute } from "../../rest-compat/compile";
import { withReaders } from "../../rest-compat/conditional";
import type { Route } from "../../rest-compat/route";
import { withSetters } from "../../rest-compat/siblings";
import { EXAMPLE_URL } from "../../rest-compat/examples";
import { fileSchemas } from "../../rest-compat/file-schemas";
import { openApi, routesTable } from "../../rest-compat/openapi";
import { routes } from "../../rest-compat/routes/index";
import { Engine } from "../../rest-compat/run";
import { buildSchema } from "../../schema/build";
import { makeContext } from "../../schema/core/context";
import { asyncApi } from "../events/schemas/async-api";
import { EVENT_CONTRACTS } from "../events/schemas/payloads";
import { loadCatalog, type Catalog } from "../platform/catalog/load-catalog";
import { readConfig, type Config } from "../platform/settings/config";
import type { Database } from "../platform/database/database";
import { openTracer } from "../platform/providers/open-telemetry/open-tracer";
import { tracing } from "../platform/tracing/tracing";
import { errorReference } from "../http/errors/error-reference";
import { Drain } from "../http/drain";
import { lingerForBody } from "../http/linger";
import { SlowReaders } from "../http/slow-readers";
import { errorFormatter } from "../http/errors/error-formatter";
import { answerMalformed } from "../http/errors/malformed-request";
import { readManifest, runnable, type PersistedOperation } from "../http/graphql/persisted-operations";
import { OpenSockets } from "../http/streams/open-sockets";
import { EventStreams } from "../http/streams/event-streams";
import { subscriptions, type SocketOptions } from "../http/streams/websocket";
import { reportMismatches } from "./event-mismatches";
import { httpApp, type Interfaces } from "./http-app";
import { openService, type Service } from "./open-service";

/** Time that a server has for its jobs after its requests, when it stops, in ms. */
const JOBS_GRACE_MS = 10_000;

/** A running service. */
export interface App {
  readonly server: Server;
  readonly database: Database;
  /** Whether this server can reach the installation's files. */
  readonly filesInReach: () => Promise<boolean>;
  /** Starts background work, once the server listens. */
  readonly startWork: () => Promise<void>;
  /** Stops accepting requests and waits for running ones; resolves when everything is closed. */
  close(): Promise<void>;
}

/**
 * Starts the service on a migrated database, without listening yet.
 * @param jobsUrl URL of the same database for the role that runs jobs
 * @param ownerUrl URL of the same database for the role that owns the tables, to perform online steps of migrations
 */
export async function createApp(
  config: Config,
  url: string,
  logger: Logger,
  jobsUrl = url,
  ownerUrl?: string,
): Promise<App> {
  const { GRAPHQL_PERSISTED_MANIFEST: manifestPath } = config;
  const manifest = manifestPath === undefined ? undefined : readManifest(manifestPath);
  const tracer = (tracing.tracer = openTracer(config, logger));
  const service = await openService(config, url, logger, jobsUrl, ownerUrl);
  const { server, database, fileStore } = service;
  const endReports = reportMismatches(service.metrics, logger);
  const { answer, stop } = await compose(service, manifest);
  SlowReaders.close(server);
  server.keepAliveTimeout = config.KEEP_ALIVE_SECONDS * 1_000;
  server.on("request", lingerForBody).on("request", answer).on("clientError", answerMalformed);
  server.on("checkExpectation", answer); // requests with an unknown Expect header are answered
  return {
    server,
    database,
    startWork: service.startWork,
    filesInReach: () => fileStore.isReachable(),
    close: async () => {
      await stop();
      await service.close();
      endReports();
      await tracer?.close();
      if (tracing.tracer === tracer) tracing.tracer = undefined; // tests open several services in a process
    },
  };
}

/** The last compiled interfaces and what they depend on: tests start one service after another in a process. */
let last: { basis: string; interfaces: Interfaces } | undefined;

/** Compiles both interfaces: the GraphQL schema and the REST routes on top of it. */
export function compileInterfaces(
  catalog: Catalog,
  config: Pick<Config, "VOICE_ENGINE" | "TELEPHONY_PROVIDER">,
): Interfaces {
  const segments = { voice_engine: config.VOICE_ENGINE, telephony_provider: config.TELEPHONY_PROVIDER };
  const basis = JSON.stringify([catalog, segments]);
  if (last?.basis === basis) return last.interfaces;
  const schema = buildSchema(catalog);
  const engine = new Engine(schema);
  const compile = (row: Route) => compileRoute(engine, row, segments);
  const interfaces = {
    schema,
    engine,
    rows: withReaders(withSetters(routes.map(compile)), compile),
  };
  last = { basis, interfaces };
  return interfaces;
}

/** The generated documents by path. They are committed; a test checks that they are up to date. @throws Error if a route is invalid */
export function generatedDocuments(): Readonly<Record<string, string>> {
  const config = readConfig({});
  const { schema, rows } = compileInterfaces(loadCatalog(), config);
  for (const row of rows) validateRoute(schema, row);
  return {
    "schema/schema.graphql": `${printSchema(lexicographicSortSchema(schema))}\n`,
    "rest-compat/openapi.json": `${JSON.stringify(openApi(rows, schema, EVENT_CONTRACTS), null, 2)}\n`,
    "src/events/schemas/asyncapi.json": `${JSON.stringify(asyncApi(EXAMPLE_URL), null, 2)}\n`,
    "src/cli/files/schemas.generated.json": `${JSON.stringify(fileSchemas(schema, config.MAX_FILE_BYTES), null, 2)}\n`,
    "rest-compat/ROUTES.md": routesTable(rows),
    "docs/errors.md": errorReference(warningCodes(schema)),
  };
}

const warningCodes = (schema: GraphQLSchema) =>
  (schema.getType("ConfigurationWarningCode") as GraphQLEnumType) // registered in schema/configurations/warnings.ts
    .getValues()
    .map(({ name, description }) => [name, description ?? ""] as const);

const drainTimes = (config: Pick<Config, "SHUTDOWN_DELAY_SECONDS" | "SHUTDOWN_GRACE_SECONDS">) => ({
  delayMs: config.SHUTDOWN_DELAY_SECONDS * 1_000,
  graceMs: config.SHUTDOWN_GRACE_SECONDS * 1_000 - JOBS_GRACE_MS,
});

async function compose(
  service: Service,
  manifest: readonly PersistedOperation[] | undefined,
): Promise<{ answer: RequestListener; stop: () => Promise<void> }> {
  const { config, database, ports, server } = service;
  const compiled = compileInterfaces(ports.catalog, config);
  const { GRAPHQL_PERSISTED: mode } = config;
  const persisted =
    manifest && mode !== "off" ? runnable(manifest, mode, compiled.schema, service.logger) : undefined;
  const drain = new Drain(server, drainTimes(config));
  const streaming = {
    schema: compiled.schema,
    introspection: config.GRAPHQL_INTROSPECTION,
    persisted,
    credentials: service.credentials,
    listener: service.listener,
    limits: service.limits,
    open: new OpenSockets(),
    maxSockets: { address: config.SOCKETS_PER_ADDRESS, organization: config.SOCKETS_PER_ORGANIZATION },
    metrics: service.metrics,
    format: errorFormatter(service.logger),
  };
  const streams = new EventStreams(streaming);
  const answer = await httpApp(service, { ...compiled, persisted, streams }, drain.isDraining);
  const newContext: SocketOptions["makeContext"] = (caller, more) => makeContext(database, caller, more);
  const sockets = subscriptions(server, { ...streaming, makeContext: newContext });
  return {
    answer,
    stop: async () => {
      await drain.announce(); // proxies would send whoever is cut off now back to this server
      streams.close();
      await Promise.all([drain.begin(), sockets.close()]);
    },
  };
}
