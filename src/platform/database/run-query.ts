import type { Knex } from "knex";
import type { PoolClient } from "pg";
import { Attached } from "../attached";
import { againAfterDeadlock } from "../errors";
import { tracing } from "../tracing/tracing";
import { type Client, inOnePacket } from "./knex-client/client";
import { RowsQuery, type Row } from "./rows-query";
import type { Query } from "./sql-text";

interface PendingQuery {
  readonly query: Query;
  /** Time limit in ms, if the query has one of its own. */
  readonly timeoutMs?: number;
  readonly writes?: boolean;
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: Error) => void;
}

/** Queries to send in this tick, by caller. */
const batches = new Attached<PendingQuery[]>();

interface QueryOptions {
  readonly organizationId: string;
  /** Time limit in ms; by default that of the connection. */
  readonly timeoutMs?: number;
  /** Whether it changes rows. */
  readonly writes?: boolean;
}

/** Runs a query. Queries of one caller in the same tick share a connection and are sent together. */
export function runQuery(db: Knex, caller: object, query: Query, options: QueryOptions): Promise<Row[]> {
  const { tracer } = tracing;
  const once = () =>
    tracer
      ? tracer.statement(query.text, () => enqueue(db, caller, query, options))
      : enqueue(db, caller, query, options);
  return options.writes && !db.isTransaction ? againAfterDeadlock(once) : once();
}

function enqueue(
  db: Knex,
  caller: object,
  query: Query,
  { organizationId, timeoutMs, writes }: QueryOptions,
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const waiting = { query, timeoutMs, writes, resolve, reject };
    const batch = batches.get(caller);
    if (batch) return void batch.push(waiting);
    const started = [waiting];
    batches.set(caller, started);
    process.nextTick(() => {
      batches.set(caller, undefined);
      void send(db.client as Client, started, organizationId);
    });
  });
}

async function send(client: Client, batch: readonly PendingQuery[], organizationId: string): Promise<void> {
  try {
    await client.onConnection((connection) =>
      inOnePacket(connection, () =>
        Promise.all(batch.map((waiting) => sendOne(client, connection, waiting, organizationId))),
      ),
    );
  } catch (error) {
    for (const { reject } of batch) reject(error as Error);
  }
}

const QUERY_CANCELED = "57014";

/** For a query with a time limit: nothing if it was exceeded. */
export function ifCanceled(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== QUERY_CANCELED) throw error;
}

function sendOne(
  client: Client,
  connection: PoolClient,
  { query, timeoutMs, writes, resolve, reject }: PendingQuery,
  organizationId: string,
): Promise<void> {
  client.emit("query", { sql: query.text, bindings: query.values });
  const settings = client.localSettings({ organizationId, timeoutMs, writes });
  const sent = client.settings.prepares ? query : { text: query.text, values: query.values };
  if (settings === "") return ask(connection, sent, resolve, reject);
  const run = () => new Promise<Row[]>((resolve, reject) => void ask(connection, sent, resolve, reject));
  return client.withSettings(connection, settings, run).then(resolve, reject);
}

/** Uses a callback, because pg's promises keep results alive through several garbage collections. */
function ask(
  connection: PoolClient,
  query: Query,
  resolve: PendingQuery["resolve"],
  reject: PendingQuery["reject"],
): Promise<void> {
  return new Promise<void>((done) =>
    connection.query(
      new RowsQuery(query, (error, rows) => {
        if (error) reject(error);
        else resolve(rows);
        done();
      }),
    ),
  );
}
