import type { Knex } from "knex";
import type { PoolClient, QueryArrayResult } from "pg";
import { type Client, inOnePacket } from "./knex-client/client";
import { camel } from "./names";
import type { Query } from "./sql-text";

type Row = Record<string, unknown>;

interface PendingQuery {
  readonly query: Query;
  readonly resolve: (rows: Row[]) => void;
  readonly reject: (error: Error) => void;
}

/** Queries to send in this tick, by caller. */
const batches = new WeakMap<object, PendingQuery[]>();

/** Runs a query. Queries of one caller in the same tick share a connection and are sent together. */
export function runQuery(db: Knex, caller: object, query: Query, organizationId: string): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const waiting = { query, resolve, reject };
    const batch = batches.get(caller);
    if (batch) return void batch.push(waiting);
    const started = [waiting];
    batches.set(caller, started);
    process.nextTick(() => {
      batches.delete(caller);
      void send(db.client as Client, started, organizationId);
    });
  });
}

async function send(client: Client, batch: readonly PendingQuery[], organizationId: string): Promise<void> {
  try {
    await client.onConnection({ organizationId }, (connection) =>
      inOnePacket(connection, () =>
        Promise.all(batch.map((waiting) => sendOne(client, connection, waiting))),
      ),
    );
  } catch (error) {
    for (const { reject } of batch) reject(error as Error);
  }
}

/** Uses a callback, because pg's promises keep results alive through several garbage collections. */
function sendOne(
  client: Client,
  connection: PoolClient,
  { query, resolve, reject }: PendingQuery,
): Promise<void> {
  client.emit("query", { sql: query.text, bindings: query.values });
  return new Promise((done) =>
    connection.query({ ...query, rowMode: "array" }, (error: Error | null, result: Result) => {
      if (error) reject(error);
      else resolve(rowsOf(result));
      done();
    }),
  );
}

type Result = QueryArrayResult<unknown[]>;

/** Creates rows with our column names directly: renaming the objects that pg creates doubles the cost. */
function rowsOf({ fields, rows }: Result): Row[] {
  const names = fields.map(({ name }) => camel(name));
  const blank = Object.fromEntries(names.map((name) => [name, null]));
  return rows.map((values) => {
    const row: Row = { ...blank };
    for (let index = 0; index < names.length; index++) row[names[index]!] = values[index];
    return row;
  });
}
