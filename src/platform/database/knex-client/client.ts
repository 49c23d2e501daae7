import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import PostgresClient from "knex/lib/dialects/postgres/index.js";
import PostgresCompiler from "knex/lib/dialects/postgres/query/pg-querycompiler.js";
import type { PoolClient } from "pg";

/** A statement that Knex is about to run. */
export interface Query {
  readonly sql: string;
  readonly bindings?: readonly unknown[];
  readonly queryContext?: { readonly organizationId?: string };
}

/** Settings that this client adds to those of Knex. */
export interface ClientSettings {
  /** Runs before each statement, on its connection. */
  readonly before: (connection: PoolClient, query: Query) => Promise<void>;
  /** Whether to wait a while before taking a connection, because more urgent work waits for its own. */
  readonly givesWay?: () => boolean;
}

/** Client-side timeout in ms, longer than statement_timeout: for a server that hangs or is unreachable. */
const QUERY_TIMEOUT_MS = 8_000;

/** The longest wait for more urgent work, and the pause between two looks at it. */
const GIVE_WAY_TIMEOUT_MS = 500;
const GIVE_WAY_PAUSE_MS = 10;

/** Knex's PostgreSQL client. It runs `before` ahead of each statement, and names columns instead of `*` on request. */
export class Client extends PostgresClient {
  override queryCompiler(builder: Knex.QueryBuilder, bindings: unknown): Compiler {
    return new Compiler(this, builder, bindings);
  }

  /** Whether a query waits for a connection because all are in use. */
  get isCrowded(): boolean {
    return this.pool.numPendingAcquires() > 0;
  }

  override async acquireConnection(): Promise<PoolClient> {
    const { givesWay } = this.config as ClientSettings;
    const until = performance.now() + GIVE_WAY_TIMEOUT_MS;
    while (givesWay?.() && performance.now() < until) await sleep(GIVE_WAY_PAUSE_MS);
    return super.acquireConnection();
  }

  override query(connection: PoolClient, query: Query | string): Promise<unknown> {
    const about = typeof query === "string" ? { sql: query } : query;
    return this.inTime(connection, about, () => super.query(connection, query));
  }

  /** Runs queries of pg on a connection of the pool, or on that of the open transaction. */
  async onConnection<R>(
    context: NonNullable<Query["queryContext"]>,
    work: (connection: PoolClient) => Promise<R>,
  ): Promise<R> {
    const connection = await this.acquireConnection();
    try {
      return await this.inTime(connection, { sql: "", queryContext: context }, () => work(connection));
    } finally {
      await this.releaseConnection(connection);
    }
  }

  private async inTime<R>(connection: PoolClient, query: Query, work: () => Promise<R>): Promise<R> {
    const timer = setTimeout(() => cutOff(connection), QUERY_TIMEOUT_MS);
    try {
      await (this.config as ClientSettings).before(connection, query);
      return await work();
    } finally {
      clearTimeout(timer);
    }
  }
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
