import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import PostgresClient from "knex/lib/dialects/postgres/index.js";
import PostgresCompiler from "knex/lib/dialects/postgres/query/pg-querycompiler.js";
import type { PoolClient } from "pg";
import { againAfterDeadlock } from "../../errors";
import type { PoolUse } from "../../ports/work-reports";
import { tracing } from "../../tracing/tracing";

/** A statement that Knex is about to run. */
export interface Query {
  readonly sql: string;
  readonly bindings?: readonly unknown[];
  readonly queryContext?: QueryContext;
}

/** Settings of one query. */
export interface QueryContext {
  readonly organizationId?: string;
  /** Time limit in ms; by default that of the connection. */
  readonly timeoutMs?: number;
  /** Whether it may store rows on several nodes, such as a message with its job. */
  readonly writes?: boolean;
}

/** Settings that this client adds to those of Knex. */
export interface ClientSettings {
  /** Hears of each statement before it is sent. */
  readonly hear: (query: Query) => void;
  /** Called after an organization has changed data; the change ends with it. */
  readonly wrote?: (organizationId: string) => Promise<void>;
  /** Whether each statement runs for the organization of its query context, so that row-level security applies. */
  readonly rowSecurity: boolean;
  /** Whether each statement avoids sorts by a setting of its own, because the connection cannot have it. */
  readonly avoidsSorts: boolean;
  /** Whether statements are prepared under names. */
  readonly prepares: boolean;
  /** Whether Citus distributes the rows of organizations; set when the server has found out. */
  isDistributed?: boolean;
  /** Rewrites the text of a statement for the database; set together with it. */
  rewrite?: (sql: string) => string;
  /** Whether to wait a while before taking a connection, because more urgent work waits for its own. */
  readonly givesWay?: () => boolean;
}

/** Client-side timeout in ms, longer than statement_timeout: for a server that hangs or is unreachable. */
const QUERY_TIMEOUT_MS = 8_000;

/** The longest wait for more urgent work, and the pause between two looks at it. */
const GIVE_WAY_TIMEOUT_MS = 500;
const GIVE_WAY_PAUSE_MS = 10;

const CHANGE = /^(insert|update|delete) /;
const TRANSACTION_EDGE = /^(BEGIN|COMMIT|ROLLBACK)/i;
const BEGIN = /^BEGIN/i;
/**
 * Makes Citus commit in two phases, so that rows on the coordinator, such as jobs, are stored if and only if rows on a
 * worker are. The table is empty.
 */
export const COMMIT_IN_TWO_PHASES = "delete from distributed_commits where false";
/** Ids of organizations; empty for statements of no organization. */
const ORGANIZATION_ID = /^[\w-]*$/;

/**
 * Knex's PostgreSQL client. It limits the time of each statement, sets the organization for row-level security, and
 * names columns instead of `*` on request. Settings are local to a transaction, so that connections can be shared.
 */
export class Client extends PostgresClient {
  override queryCompiler(builder: Knex.QueryBuilder, bindings: unknown): Compiler {
    return new Compiler(this, builder, bindings);
  }

  /** Whether a query waits for a connection because all are in use. */
  get isCrowded(): boolean {
    return this.pool.numPendingAcquires() > 0;
  }

  /** Connections in use, idle ones, and queries that wait for one. */
  get use(): PoolUse {
    const { pool, config } = this;
    const { max: most } = (config as { pool: { max: number } }).pool; // as connect sets it
    return { used: pool.numUsed(), idle: pool.numFree(), waiting: pool.numPendingAcquires(), most };
  }

  override async acquireConnection(): Promise<PoolClient> {
    const { givesWay } = this.settings;
    const until = performance.now() + GIVE_WAY_TIMEOUT_MS;
    while (givesWay?.() && performance.now() < until) await sleep(GIVE_WAY_PAUSE_MS);
    return super.acquireConnection().catch((error: unknown) => {
      const { used, most } = this.use;
      if (!String(error).includes("Timeout acquiring") || used < most) throw error;
      throw new Error(
        `Timeout acquiring a connection: all ${most} are in use. Look for slow statements, or raise DATABASE_POOL.`,
        { cause: error },
      );
    });
  }

  override query(connection: PoolClient, query: Query | string): Promise<unknown> {
    const { tracer } = tracing;
    const about = typeof query === "string" ? { sql: query } : query;
    return tracer
      ? tracer.statement(about.sql, () => this.send(connection, query, about))
      : this.send(connection, query, about);
  }

  private send(connection: PoolClient, query: Query | string, about: Query): Promise<unknown> {
    const { hear } = this.settings;
    const run = () =>
      this.inTime(connection, () => {
        hear(about);
        const local = TRANSACTION_EDGE.test(about.sql) ? "" : this.localSettings(about.queryContext);
        return inOnePacket(connection, () => {
          const result = this.withSettings(connection, local, () => super.query(connection, query));
          if (this.settings.isDistributed && BEGIN.test(about.sql))
            sendQuietly(connection, COMMIT_IN_TWO_PHASES);
          return result;
        });
      });
    const result = this.transacting ? run() : againAfterDeadlock(run);
    const writer = about.queryContext?.organizationId;
    return writer !== undefined && CHANGE.test(about.sql) ? this.noted(writer, result) : result;
  }

  /** A change of an organization. It ends when `wrote` has heard of it; in a transaction, that ends with the transaction. */
  async noted<R>(organizationId: string, change: Promise<R>): Promise<R> {
    const result = await change;
    if (!this.transacting) await this.settings.wrote?.(organizationId);
    return result;
  }

  /** Statements that set what a query needs until the end of its transaction; empty if it needs nothing. */
  localSettings({ organizationId = "", timeoutMs, writes = false }: QueryContext = {}): string {
    const { rowSecurity, avoidsSorts, isDistributed } = this.settings;
    const inTwoPhases = writes && isDistributed && !this.transacting;
    if (!rowSecurity && !avoidsSorts && timeoutMs === undefined && !inTwoPhases) return "";
    const statements: string[] = [];
    if (rowSecurity) {
      if (!ORGANIZATION_ID.test(organizationId)) throw new Error(`Not an organization: ${organizationId}`);
      statements.push(`set local parley.organization_id = '${organizationId}'`);
    }
    if (avoidsSorts) statements.push("set local enable_sort = off");
    if (timeoutMs !== undefined) statements.push(`set local statement_timeout = ${timeoutMs}`);
    if (inTwoPhases) statements.push(COMMIT_IN_TWO_PHASES);
    return statements.join("; ");
  }

  /** Runs a query after settings that end with it: in a transaction of its own, unless one is open. */
  async withSettings<R>(connection: PoolClient, settings: string, run: () => Promise<R>): Promise<R> {
    if (settings === "") return run();
    if (this.transacting) {
      this.sendSettings(connection, settings);
      return run();
    }
    let cause: Error | undefined;
    this.sendSettings(connection, `begin; ${settings}`, (error) => (cause ??= error));
    const [result, commit] = await Promise.allSettled([run(), connection.query("commit")]);
    if (result.status === "rejected") throw cause ?? result.reason;
    if (commit.status === "rejected") throw commit.reason;
    return result.value;
  }

  /** Citus needs each statement in a message of its own, because it passes the message of a setting on to workers. */
  private sendSettings(connection: PoolClient, statements: string, failed?: Failed): void {
    for (const message of this.settings.isDistributed ? statements.split("; ") : [statements])
      sendQuietly(connection, message, failed);
  }

  /**
   * Runs queries of pg on a connection of the pool, or on that of the open transaction.
   * @param work calls `answered` after each query, from when on the next one has its time
   */
  async onConnection<R>(work: (connection: PoolClient, answered: () => void) => Promise<R>): Promise<R> {
    const connection = await this.acquireConnection();
    try {
      return await this.inTime(connection, (answered) => work(connection, answered));
    } finally {
      await this.releaseConnection(connection);
    }
  }

  get settings(): ClientSettings {
    return this.config as ClientSettings;
  }

  private async inTime<R>(connection: PoolClient, work: (answered: () => void) => Promise<R>): Promise<R> {
    const timer = setTimeout(() => cutOff(connection), QUERY_TIMEOUT_MS);
    try {
      return await work(() => void timer.refresh());
    } finally {
      clearTimeout(timer);
    }
  }
}

type Failed = (error: Error) => void;

/** Sends settings before a query; if they fail, the query fails too, because its transaction is aborted. */
function sendQuietly(connection: PoolClient, text: string, failed?: Failed): void {
  connection.query(text, (error?: Error | null) => void (error && failed?.(error)));
}

/** The socket, missing in pg's types. */
const socketOf = (connection: PoolClient) =>
  (connection as unknown as { connection: { stream: Writable } }).connection.stream;

/** Closes a connection at once. Statements that wait for it fail, and the pool forgets it. */
const cutOff = (connection: PoolClient): unknown => socketOf(connection).destroy();

/** Sends the queries that work starts at once by one write to the socket. */
export function inOnePacket<R>(connection: PoolClient, work: () => R): R {
  const socket = socketOf(connection);
  socket.cork();
  try {
    return work();
  } finally {
    socket.uncork();
  }
}

/** Replaces `*` with the columns that the query context's `all` lists. */
class Compiler extends PostgresCompiler {
  override columns(): string {
    const { all } = (this.builder.queryContext() ?? {}) as { all?: (table: string) => string };
    const text = super.columns();
    return all && !this.grouped.join
      ? text.replace(/^select \*(?=,| from )/, () => `select ${all(this.single.table)}`)
      : text;
  }
}
