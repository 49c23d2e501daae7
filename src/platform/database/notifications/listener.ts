import { AsyncLocalStorage } from "node:async_hooks";
import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Availability } from "../../availability";
import { Silence } from "../connections/silence";
import { NotificationSender } from "./notification-sender";

type Ids = Readonly<Record<string, string>>;
type ReceiveIds = (ids: Ids) => void;

/** Exchanges notifications with other servers over its own connection, which is renewed when it breaks or is silent. */
export class Listener {
  private readonly emitter = new EventEmitter().setMaxListeners(0);
  private client: pg.Client | undefined;
  private readonly sender = new NotificationSender(
    () => this.client,
    (client) => void this.renew(client),
  );
  /** PostgreSQL's process id of the connection: its own notifications were heard when they were sent. */
  private backend: number | undefined;
  /** Whether the connection works. Caches that rely on notifications must not be used otherwise. */
  connected = false;
  /** Keeps the work of a notification's listeners out of the trace of the request that sends it. */
  private readonly outside = AsyncLocalStorage.snapshot();
  /** Whether this process is stopping and opens no connection again. */
  closed = false;

  constructor(
    private readonly url: string,
    private readonly channels: readonly string[],
    /** Text that other processes see after the connection's name. */
    private readonly about = "",
    private readonly availability?: Availability,
  ) {}

  /** Resolves once the first connection is listening. */
  async start(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.url,
      application_name: `parley listener ${this.about}`.trim(),
      connectionTimeoutMillis: 5_000,
    });
    client.on("notification", ({ channel, payload, processId }) => {
      if (processId !== this.backend) this.emitter.emit(channel, JSON.parse(payload ?? "{}"));
    });
    client.on("error", () => void this.renew(client));
    client.on("end", () => void this.renew(client));
    try {
      await client.connect();
      Silence.end(client);
      const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
      this.backend = rows[0]?.pid;
      for (const channel of this.channels) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    // Only a connection that has worked is renewed; a failed first attempt is the caller's error.
    this.client = client;
    this.connected = true;
    if (this.closed) await this.stop();
  }

  /**
   * Notifies all servers of a committed change: this one at once, the others within milliseconds, unless the connection
   * breaks or the process ends before. Receivers must find the change without it, too.
   */
  send(channel: string, ids: Ids): void {
    this.outside(() => setImmediate(() => this.emitter.emit(channel, ids)));
    this.sendToOthers(channel, ids);
  }

  /** Like `send`, for other servers only. */
  sendToOthers(channel: string, ids: Ids): void {
    this.sender.add(channel, JSON.stringify(ids));
  }

  /** Wakes the workers of all servers for new jobs, which they otherwise find within a second. */
  wakeWorkers(jobs: number): void {
    this.sender.addJobs(jobs);
  }

  /** Calls `hear` for each notification. @returns a function that unsubscribes */
  on(channel: string, hear: ReceiveIds): () => void {
    this.emitter.on(channel, hear);
    return () => void this.emitter.off(channel, hear);
  }

  /** Calls `renewed` whenever the connection was renewed: notifications in between are lost. */
  onRenewed(renewed: () => void): () => void {
    this.emitter.on(RENEWED, renewed);
    return () => void this.emitter.off(RENEWED, renewed);
  }

  async stop(): Promise<void> {
    await this.sender.flush();
    this.closed = true;
    this.connected = false;
    await this.client?.end().catch(() => undefined);
  }

  private async renew(broken: pg.Client): Promise<void> {
    if (this.closed || broken !== this.client) return;
    this.connected = false;
    this.client = undefined;
    void broken.end().catch(() => undefined);
    while (!this.closed) {
      await sleep(500, undefined, { ref: false });
      try {
        await this.start();
        this.availability?.works();
        this.emitter.emit(RENEWED);
        return;
      } catch (error) {
        this.availability?.failed(error);
      }
    }
  }
}

const RENEWED = Symbol("renewed");
