import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import knex, { type Knex } from "knex";
import PostgresClient from "knex/lib/dialects/postgres/index.js";
import PostgresTransaction from "knex/lib/dialects/postgres/execution/pg-transaction.js";
import pg, { type PoolClient, type QueryArrayResult } from "pg";
import { readStored } from "../json/json-source";
import { Compiler } from "./all-columns";
import { noteGrowth } from "./growth";
import { patiently } from "./patience";
import { SqlText } from "./sql-text";

/** Settings of a connection that services never see. */
export interface ConnectOptions {
  readonly pool?: number;
  /** How PostgreSQL lists the connections. */
  readonly name?: string;
  /** Whether to wait, a while, before a connection is taken, as others are in more of a hurry. */
  readonly giveWay?: () => boolean;
  /** Tell PostgreSQL the organization before every statement, so that its row-level security applies. */
  readonly rowSecurity?: boolean;
}

/** Background work waits at most this long for requests that queue for connections, and checks this often. */
const BACKGROUND_WAIT_MS = 500;
const BACKGROUND_CHECK_INTERVAL_MS = 10;

const snakes = new Map<string, string>();
const camels = new Map<string, string>();
const memo = (known: Map<string, string>, name: string, make: () => string): string => {
  const found = known.get(name);
  if (found !== undefined) return found;
  const made = make();
  known.set(name, made);
  return made;
};
const snake = (name: string) =>
  memo(snakes, name, () => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
const camel = (name: string) =>
  memo(camels, name, () => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()));

/** A row with the names that TypeScript uses: `created_at` is `createdAt`. */
export function toRow(columns: Record<string, unknown>): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const name in columns) row[camel(name)] = columns[name];
  return row;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !(value instanceof Date) && !Buffer.isBuffer(value);

const toRows = (response: unknown): unknown => {
  if (Array.isArray(response)) return response.map((row: unknown) => (isRecord(row) ? toRow(row) : row));
  return isRecord(response) && !("command" in response) ? toRow(response) : response;
};

const TRANSACTION_END = /^(COMMIT|ROLLBACK)/i;

/** The quoted text of an identifier of ours, for where PostgreSQL takes no parameter. */
const literal = (id: string) => `'${id.replace(/[^A-Za-z0-9-]/g, "")}'`;

class Transaction extends PostgresTransaction {
  override begin(connection: PoolClient): Promise<unknown> {
    const { organizationId } = (this.userParams ?? {}) as { organizationId?: string };
    return organizationId === undefined
      ? super.begin(connection)
      : this.query(connection, `BEGIN; SET LOCAL parley.organization_id = ${literal(organizationId)};`);
  }
}

const TELL_ORGANIZATION = new SqlText("select set_config('parley.organization_id', $1, false)");

/** Knex's PostgreSQL client, which can also run prepared statements and tell the database whose rows are meant. */
export class Client extends PostgresClient {
  override transaction(container: unknown, config: unknown, outer: unknown): Transaction {
    return new Transaction(this, container, config, outer);
  }

  override queryCompiler(builder: Knex.QueryBuilder, bindings: unknown): Compiler {
    return new Compiler(this, builder, bindings);
  }

  override async acquireConnection(): Promise<unknown> {
    const { giveWay } = this.config as ConnectOptions;
    const until = performance.now() + BACKGROUND_WAIT_MS;
    while (giveWay?.() && performance.now() < until) await sleep(BACKGROUND_CHECK_INTERVAL_MS);
    return super.acquireConnection();
  }

  override async _query(connection: PoolClient, query: QueryObject): Promise<unknown> {
    if (/^(insert|update) /.test(query.sql)) noteGrowth(query.queryContext?.organizationId, query.bindings);
    // In a transaction that has failed only its end is listened to: asked for more, the connection would stay in it.
    if (!TRANSACTION_END.test(query.sql))
      await this.tellOrganization(connection, query.queryContext?.organizationId);
    return patiently(connection, () => super._query(connection, query));
  }

  /**
   * Runs a statement. Those that one caller asks for at once go to PostgreSQL together, over one connection, and their
   * answers come as they are ready.
   */
  run(asker: object, query: StatementQuery, organizationId: string): Promise<Record<string, unknown>[]> {
    return new Promise((resolve, reject) => {
      const asked = { query, resolve, reject };
      const batch = batches.get(asker);
      if (batch) return void batch.push(asked);
      batches.set(asker, [asked]);
      process.nextTick(() => void this.send(asker, organizationId));
    });
  }

  private async send(asker: object, organizationId: string): Promise<void> {
    const batch = batches.get(asker) ?? [];
    batches.delete(asker);
    try {
      const connection = (await this.acquireConnection()) as PoolClient;
      try {
        await this.tellOrganization(connection, organizationId);
        for (const { query } of batch) this.emit("query", { sql: query.sql.text, bindings: query.values });
        await patiently(connection, () => answerAll(connection, batch));
      } finally {
        await this.releaseConnection(connection);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error as Error);
    }
  }

  private async tellOrganization(connection: PoolClient, organizationId: string | undefined): Promise<void> {
    if (!(this.config as ConnectOptions).rowSecurity) return;
    await connection.query(TELL_ORGANIZATION.with([organizationId ?? ""]));
  }
}

/** A statement, and who waits for its rows. */
interface Asked {
  readonly query: StatementQuery;
  readonly resolve: (rows: Record<string, unknown>[]) => void;
  readonly reject: (error: Error) => void;
}

/** Statements to send in this tick, by caller. */
const batches = new WeakMap<object, Asked[]>();

/** Sends all queries in one packet. Uses callbacks because pg's promises keep results alive through several GC cycles. */
function answerAll(connection: PoolClient, batch: readonly Asked[]): Promise<void> {
  const { stream } = (connection as unknown as { connection: { stream: Writable } }).connection; // pg's types don't show it
  return new Promise((resolve) => {
    let open = batch.length;
    const answered = ({ resolve: take, reject }: Asked, error: Error | null, result: Result) => {
      if (error) reject(error);
      else take(rowsOf(result));
      if (--open === 0) resolve();
    };
    stream.cork();
    try {
      for (const asked of batch)
        connection.query(
          { ...asked.query.sql.with(asked.query.values), rowMode: "array" },
          (error: Error | null, result) => answered(asked, error, result),
        );
    } finally {
      stream.uncork();
    }
  });
}

type Result = QueryArrayResult<unknown[]>;

/** Rows under our names at once: to rename the objects that pg makes costs as much again as making them. */
function rowsOf({ fields, rows }: Result): Record<string, unknown>[] {
  const names = fields.map(({ name }) => camel(name));
  const blank = Object.fromEntries(names.map((name) => [name, null]));
  return rows.map((values) => {
    const row: Record<string, unknown> = { ...blank };
    for (let index = 0; index < names.length; index++) row[names[index]!] = values[index];
    return row;
  });
}

const TIMESTAMPTZ = 1184;
const readTime = pg.types.getTypeParser(TIMESTAMPTZ) as (text: string) => Date;
const UTC = "+00";
const digit = (text: string, at: number) => text.charCodeAt(at) - 48;
const two = (text: string, at: number) => digit(text, at) * 10 + digit(text, at + 1);
/** As PostgreSQL writes it, a fraction of the second ends with no zero. */
const fraction = (text: string, at: number) => (at < text.length - UTC.length ? digit(text, at) : 0);

/** Sessions of ours have times in UTC, which are read in a fraction of the time that pg's reader for all zones takes. */
function time(text: string): Date {
  // A year of four digits, and none that Date.UTC takes for one of the last century.
  if (text[4] !== "-" || text.startsWith("00") || !text.endsWith(UTC) || text.length < 22)
    return readTime(text);
  const year = two(text, 0) * 100 + two(text, 2);
  const milliseconds = fraction(text, 20) * 100 + fraction(text, 21) * 10 + fraction(text, 22);
  return new Date(
    Date.UTC(year, two(text, 5) - 1, two(text, 8), two(text, 11), two(text, 14), two(text, 17), milliseconds),
  );
}

/** The type json, which keeps the text; jsonb does not. */
const JSON_TEXT = 114;

const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [TIMESTAMPTZ]: time,
  [JSON_TEXT]: readStored,
};

const types = {
  getTypeParser: (type: number, format?: string): unknown =>
    format !== "binary" && type in PARSERS
      ? PARSERS[type]
      : pg.types.getTypeParser(type, format === "binary" ? "binary" : "text"),
};

interface StatementQuery {
  readonly sql: SqlText;
  readonly values: unknown[];
}
interface QueryObject {
  readonly sql: string;
  readonly bindings?: readonly unknown[];
  readonly queryContext?: { readonly organizationId?: string };
}

/** Opens the pool. Statements are given up after 5 s, idle transactions after 15 s. */
export function connect(
  url: string,
  { pool = 10, name = "parley", rowSecurity = false, giveWay }: ConnectOptions = {},
): Knex {
  const config = {
    client: Client as unknown as typeof Knex.Client, // the type of knex.Client hides what a dialect may override
    connection: {
      connectionString: url,
      connectionTimeoutMillis: 5_000,
      options: "-c statement_timeout=5000 -c idle_in_transaction_session_timeout=15000 -c timezone=UTC",
      application_name: name,
      pipeline: true,
      types,
    },
    pool: { min: 0, max: pool },
    acquireConnectionTimeout: 5_000,
    wrapIdentifier: (name: string, quote: (name: string) => string) => quote(snake(name)),
    postProcessResponse: toRows,
    rowSecurity,
    giveWay,
  };
  return knex(config);
}
