import type { Knex } from "knex";
import type { PoolClient } from "pg";
import { Attached } from "../attached";
import { againAfterDeadlock } from "../errors";
import { tracing } from "../tracing/tracing";
import { type Client, inOnePacket } from "./knex-client/client";
import { RowsQuery, type Row } from "./rows-query";
import type { Query } from "./values/sql-text";

/** Most queries of different callers that share a packet: those behind a slow one wait for it. */
const MOST_SHARED = 8;

export interface QueryOptions {
  readonly organizationId: string;
  /** Time limit in ms; by default that of the connection. */
  readonly timeoutMs?: number;
  /** Whether it changes rows. */
  readonly writes?: boolean;
  /** Whether it is fast, so that queries of other callers may wait for it. */
  readonly isShared?: boolean;
}

interface PendingQuery {
  readonly query: Query;
  /** Statements to run before it, in a transaction of both; empty if there are none. */
  readonly settings: string;
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: Error) => void;
}

/** Queries to send together, by caller; shared ones by their pool. */
const batches = new Attached<PendingQuery[]>();

/**
 * Runs a query. Queries of one caller in the same tick share a connection and are sent together; so are shared ones of all
 * callers in the same turn of the event loop: reading an assistant takes a third less CPU time under load, and a page with
 * its count a quarter (`npm run bench -- peers`).
 */
export function runQuery(db: Knex, caller: object, query: Query, options: QueryOptions): Promise<Row[]> {
  const { tracer } = tracing;
  const { text, values } = query;
  (db.client as Client).emit("query", { sql: text, bindings: values, queryContext: options }); // in the caller's context
  const once = () =>
    tracer
      ? tracer.statement(query.text, () => enqueue(db, caller, query, options))
      : enqueue(db, caller, query, options);
  return options.writes && !db.isTransaction ? againAfterDeadlock(once) : once();
}

function enqueue(db: Knex, caller: object, query: Query, options: QueryOptions): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const isShared = options.isShared === true && !db.isTransaction;
    const key = isShared ? db : caller;
    const client = db.client as Client;
    const sent = client.settings.prepares ? query : { text: query.text, values: query.values };
    const waiting = { query: sent, settings: client.localSettings(options), resolve, reject };
    const batch = batches.get(key);
    if (batch && !(isShared && batch.length === MOST_SHARED)) return void batch.push(waiting);
    const started = [waiting];
    batches.set(key, started);
    const sendAll = () => {
      if (batches.get(key) === started) batches.set(key, undefined);
      void send(client, started);
    };
    if (isShared) setImmediate(sendAll);
    else process.nextTick(sendAll);
  });
}

async function send(client: Client, batch: readonly PendingQuery[]): Promise<void> {
  try {
    await client.onConnection((connection, answered) =>
      inOnePacket(connection, () =>
        Promise.all(batch.map((waiting) => sendOne(client, connection, waiting, answered))),
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
  waiting: PendingQuery,
  answered: () => void,
): Promise<void> {
  const { query, settings } = waiting;
  if (settings === "") return ask(connection, waiting, answered);
  const run = () =>
    new Promise<Row[]>((resolve, reject) => void ask(connection, { query, resolve, reject }, answered));
  return client.withSettings(connection, settings, run).then(waiting.resolve, waiting.reject);
}

/** Uses a callback, because pg's promises keep results alive through several garbage collections. */
function ask(
  connection: PoolClient,
  { query, resolve, reject }: Pick<PendingQuery, "query" | "resolve" | "reject">,
  answered: () => void,
): Promise<void> {
  return new Promise<void>((done) =>
    connection.query(
      new RowsQuery(query, (error, rows) => {
        answered();
        if (error) reject(error);
        else resolve(rows);
        done();
      }),
    ),
  );
}
