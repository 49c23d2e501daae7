import { setTimeout as sleep } from "node:timers/promises";
import { Client, Pool, type ClientConfig, type PoolClient, type PoolConfig } from "pg";
import type { Logger } from "pino";
import { whenReadOnly } from "../../database/connections/read-only";
import { Silence } from "../../database/connections/silence";
import type { PoolUse, WorkReports } from "../../ports/work-reports";

/** With a time limit for opening alone: that of the pool would also end waits for a free connection. */
class JobClient extends Client {
  constructor(config?: ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  }
}

type Release = (release?: unknown) => void;
type ConnectCallback = (error: Error | undefined, client: PoolClient | undefined, release: Release) => void;

/** Most jobs wait for something other than the database, so there are fewer connections than job slots. */
const MAX_CONNECTIONS = 15;
/**
 * Connections of a start, of which three listen. Each of 38 workers looks for a job then, and again when the periodic jobs
 * are enqueued. These statements are so short that opening a connection costs more than waiting for another.
 */
const FIRST_CONNECTIONS = 5;
/** Duration of a start, in ms. */
const START_MS = 3_000;
/** An idle connection is closed after this time; a new one costs PostgreSQL as much as some hundred statements. */
const IDLE_TIMEOUT_MS = 120_000;
/** Time limit for opening a connection, in ms. */
const CONNECT_TIMEOUT_MS = 5_000;
/** How long the end of the pool waits for a database that does not close a connection, in ms. */
const CLOSE_TIMEOUT_MS = 1_000;

/**
 * Releases a connection once. The listener of graphile-worker releases its own twice if the database goes away at a bad
 * moment; pg throws then, and the rejection, which nobody handles, would end the process.
 *
 * Ends when its connections are closed. The pool of pg ends when it has asked PostgreSQL to close them; if PostgreSQL
 * stops next, it reports each that is still open as an error.
 */
class JobPool extends Pool {
  private readonly open = new Set<PoolClient>();
  /** Connections that have refused a write because they are read-only. */
  private readonly readOnly = new WeakSet<PoolClient>();

  constructor(config: PoolConfig) {
    super(config);
    this.on("connect", (client) => {
      this.open.add(client);
      Silence.end(client);
      whenReadOnly(client, () => this.readOnly.add(client));
      client.once("end", () => this.open.delete(client));
    });
  }

  override end(): Promise<void>;
  override end(callback: () => void): void;
  override end(callback?: () => void): Promise<void> | void {
    const ended = this.closeAll();
    return callback ? void ended.then(callback) : ended;
  }

  private async closeAll(): Promise<void> {
    const closed = [...this.open].map(
      (client) => new Promise<void>((resolve) => client.once("end", resolve)),
    );
    await super.end();
    await Promise.race([Promise.all(closed), sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<PoolClient> | void {
    if (!callback) return super.connect().then((client) => this.closedIfReadOnly(client));
    super.connect((error, client, release) => {
      let isReleased = false;
      callback(error, client, (reason) => {
        if (isReleased) return;
        isReleased = true;
        release(reason as Error | boolean | undefined); // the types that pg accepts
      });
    });
  }

  private closedIfReadOnly(client: PoolClient): PoolClient {
    const release = client.release.bind(client);
    client.release = (reason) => release(reason ?? this.readOnly.has(client));
    return client;
  }
}

/** Use of the connections, and the requests that wait for one. */
const useOf = ({ totalCount, idleCount, waitingCount }: Pool): PoolUse => ({
  used: totalCount - idleCount,
  idle: idleCount,
  waiting: waitingCount,
  most: MAX_CONNECTIONS,
});

/** Opens the connections that find and record jobs, at first only few; errors of a connection are logged. */
export function openJobPool(
  connectionString: string,
  logger: Logger,
  reports?: Pick<WorkReports, "watchPool">,
): Pool {
  // The database may lose the latest starts and ends of jobs in a crash: such jobs run again, as after any other crash.
  const options = "-c synchronous_commit=off";
  const pool = new JobPool({
    ...{ connectionString, Client: JobClient },
    max: FIRST_CONNECTIONS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    application_name: "parley worker",
    options,
  });
  setTimeout(() => (pool.options.max = MAX_CONNECTIONS), START_MS).unref();
  reports?.watchPool("worker", () => useOf(pool));
  const lost = (error: unknown) => logger.warn({ err: error }, "worker connection lost");
  return pool.on("error", lost).on("connect", (client) => void client.on("error", lost));
}
