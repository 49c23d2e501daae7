import knex, { type Knex } from "knex";
import pg from "pg";
import type { Logger } from "pino";
import { readStored } from "../json/json-source";
import { noteGrowth } from "./growth";
import { Client, type ClientSettings } from "./knex-client/client";
import { snake, toRow } from "./names";
import { SqlText } from "./sql-text";
import { TIMESTAMPTZ, utcTime } from "./utc-time";

/** Settings of a connection that services never see. */
export interface ConnectOptions {
  readonly pool?: number;
  /** The connections' application_name. */
  readonly name?: string;
  /** Sets the organization before every statement, so that row-level security applies. */
  readonly rowSecurity?: boolean;
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

const TRANSACTION_END = /^(COMMIT|ROLLBACK)/i;
const TELL_ORGANIZATION = new SqlText("select set_config('parley.organization_id', $1, false)");

/** Counts stored bytes and sets the organization for row-level security. */
const beforeQuery =
  (rowSecurity: boolean): ClientSettings["before"] =>
  async (connection, { sql, bindings, queryContext }) => {
    const organizationId = queryContext?.organizationId;
    if (/^(insert|update) /.test(sql)) noteGrowth(organizationId, bindings);
    // A failed transaction accepts only its end.
    if (rowSecurity && !TRANSACTION_END.test(sql))
      await connection.query(TELL_ORGANIZATION.with([organizationId ?? ""]));
  };

/** OID of the type json, which preserves the text, unlike jsonb. */
const JSON_TEXT = 114;

const types = {
  getTypeParser: (type: number, format?: string): unknown => {
    if (format === "binary") return pg.types.getTypeParser(type, "binary");
    if (type === JSON_TEXT) return readStored;
    return type === TIMESTAMPTZ ? utcTime : pg.types.getTypeParser(type, "text");
  },
};

/** Replaces the log of knex, which writes text to standard output. */
function knexLog(logger: ConnectOptions["logger"]) {
  const write = (message: unknown) => logger?.debug({}, String(message).split("\n", 1)[0]);
  return { debug: write, warn: write, error: write, deprecate: write };
}

/** Opens a connection pool. Statements time out after 5 s, idle transactions after 15 s. */
export function connect(
  url: string,
  { pool = 10, name = "parley", rowSecurity = false, logger, givesWay }: ConnectOptions = {},
): Knex {
  const config = {
    client: Client as unknown as typeof Knex.Client, // knex.Client's type lacks the overridable methods
    connection: {
      connectionString: url,
      connectionTimeoutMillis: 5_000,
      options: "-c statement_timeout=5000 -c idle_in_transaction_session_timeout=15000 -c timezone=UTC",
      application_name: name,
      pipeline: true, // statements of one transaction may go out at once
      types,
    },
    pool: { min: 0, max: pool },
    acquireConnectionTimeout: 5_000,
    wrapIdentifier: (name: string, quote: (name: string) => string) => quote(snake(name)),
    postProcessResponse: toRows,
    before: beforeQuery(rowSecurity),
    givesWay,
    log: knexLog(logger),
  };
  return knex(config);
}
