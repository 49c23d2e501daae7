import type { RequestListener, Server } from "node:http";
import { lexicographicSortSchema, printSchema } from "graphql";
import type { Logger } from "pino";
import { compileRoute } from "../../rest-compat/compile";
import { openApi, routesTable } from "../../rest-compat/openapi";
import { routes } from "../../rest-compat/routes/index";
import { Engine } from "../../rest-compat/run";
import { buildSchema } from "../../schema/build";
import { makeContext } from "../../schema/core/context";
import { loadCatalog, type Catalog } from "../platform/catalog/load-catalog";
import { readConfig, type Config } from "../platform/settings/config";
import type { Database } from "../platform/database/database";
import { Drain } from "../http/drain";
import { shownBy } from "../http/shown-error";
import { unreadable } from "../http/unreadable";
import { subscriptions } from "../http/websocket";
import { httpApp, type Interfaces } from "./http-app";
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

/**
 * Puts the service together on a migrated database.
 * @param jobsUrl the same database as the role that takes jobs
 */
export async function createApp(config: Config, url: string, logger: Logger, jobsUrl = url): Promise<App> {
  const service = await openService(config, url, logger, jobsUrl);
  const { server, database, fileStore } = service;
  const { answer, stop } = await compose(service);
  server.on("request", answer).on("clientError", unreadable);
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

/** Compiles both interfaces: the schema, and the REST rows on it. */
export function faces(
  catalog: Catalog,
  config: Pick<Config, "VOICE_ENGINE" | "TELEPHONY_PROVIDER">,
): Interfaces {
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
  const answer = await httpApp(parts, compiled, drain.hasBegun);
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
