import knex, { type Knex } from "knex";
import type pg from "pg";
import type { Logger } from "pino";
import type { Config } from "../../settings/config";
import { noteGrowth } from "./growth";
import { Client, type ClientSettings } from "../knex-client/client";
import { snake, toRow } from "../values/names";
import { discardReadOnly, whenReadOnly } from "./read-only";
import { types } from "../values/parsers";

/** Settings of a connection that services never see. */
export interface ConnectOptions {
  readonly pool?: number;
  /** The connections' application_name. */
  readonly name?: string;
  /** Sets the organization for every statement, so that row-level security applies. */
  readonly rowSecurity?: boolean;
  /** Whether the URL leads to a pooler. It refuses the settings below, so the role must have them. */
  readonly pooled?: boolean;
  /** Whether statements are prepared under names, which PgBouncer before 1.21 does not support; default true. */
  readonly prepares?: boolean;
  /**
   * Whether PostgreSQL prefers the order of an index to a sort. Queues need it: the statistics of their indexes often date
   * from a time when the queue was empty, so the planner takes any other index for equally good.
   */
  readonly avoidsSorts?: boolean;
  /** Called after an organization has changed data. */
  readonly wrote?: ClientSettings["wrote"];
  /** Gets warnings of knex at debug level: the errors that cause them reach the callers. */
  readonly logger?: Pick<Logger, "debug">;
  /** Whether to wait a while before taking a connection, because more urgent work waits for its own. */
  readonly givesWay?: () => boolean;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !(value instanceof Date) && !Buffer.isBuffer(value);

const toRows = (response: unknown): unknown => {
  if (Array.isArray(response)) return response.map((row: unknown) => (isRecord(row) ? toRow(row) : row));
  return isRecord(response) && !("command" in response) ? toRow(response) : response;
};

/** Counts stored bytes. */
const hear: ClientSettings["hear"] = ({ sql, bindings, queryContext }) => {
  if (/^(insert|update) /.test(sql)) noteGrowth(queryContext?.organizationId, bindings);
};

/** Time limits of statements and of idle transactions, and the time zone, which `utcTime` expects. */
export const SESSION_SETTINGS = {
  statement_timeout: "5000",
  idle_in_transaction_session_timeout: "15000",
  timezone: "UTC",
} as const;
/** Set by the options of a connection, which poolers do not pass on; see `refusePooler`. */
export const DIRECT_MARK = "parley.direct";
const SESSION_OPTIONS = Object.entries({ ...SESSION_SETTINGS, [DIRECT_MARK]: "on" }).map(
  ([name, value]) => `-c ${name}=${value}`,
);

const AVOID_SORTS = "-c enable_sort=off";

/** Makes Citus set the organization on workers too, whose policies need it. Other databases ignore it. */
const PASS_ON = "-c citus.propagate_set_commands=local";

/** Replaces the log of knex, which writes text to standard output. */
function knexLog(logger: ConnectOptions["logger"]) {
  const write = (message: unknown) => logger?.debug({}, String(message).split("\n", 1)[0]);
  return { debug: write, warn: write, error: write, deprecate: write };
}

/** How the pools that serve an installation connect. */
export const servingOptions = ({
  ROW_LEVEL_SECURITY: rowSecurity,
  DATABASE_DIRECT_URL: direct,
  DATABASE_PREPARE: prepares,
}: Pick<Config, "ROW_LEVEL_SECURITY" | "DATABASE_DIRECT_URL" | "DATABASE_PREPARE">) => ({
  ...{ rowSecurity, pooled: direct !== undefined, prepares },
});

/** Interval of closing connections that were idle for half a minute: each time wakes an idle process. */
const REAP_INTERVAL_MS = 10_000;

function afterCreate(connection: pg.Client, done: (error: unknown, connection: pg.Client) => void): void {
  whenReadOnly(connection, () => discardReadOnly(connection));
  done(null, connection);
}

/** Opens a connection pool. Statements time out after 5 s, idle transactions after 15 s. */
export function connect(
  url: string,
  {
    pool = 10,
    name = "parley",
    rowSecurity = false,
    pooled = false,
    prepares = true,
    avoidsSorts = false,
    wrote,
    logger,
    givesWay,
  }: ConnectOptions = {},
): Knex {
  const options = [
    ...SESSION_OPTIONS,
    ...(rowSecurity ? [PASS_ON] : []),
    ...(avoidsSorts ? [AVOID_SORTS] : []),
  ];
  const config = {
    client: Client as unknown as typeof Knex.Client, // knex.Client's type lacks the overridable methods
    connection: {
      connectionString: url,
      connectionTimeoutMillis: 5_000,
      options: pooled ? undefined : options.join(" "),
      application_name: name,
      pipeline: true, // statements of one transaction may go out at once
      types,
    },
    pool: { min: 0, max: pool, reapIntervalMillis: REAP_INTERVAL_MS, afterCreate },
    acquireConnectionTimeout: 5_000,
    wrapIdentifier: (name: string, quote: (name: string) => string) => quote(snake(name)),
    postProcessResponse: toRows,
    ...{ hear, rowSecurity, prepares, avoidsSorts: pooled && avoidsSorts },
    ...{ wrote, givesWay },
    log: knexLog(logger),
  };
  return knex(config);
}
