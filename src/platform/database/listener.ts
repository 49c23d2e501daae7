import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

type Ids = Readonly<Record<string, string>>;
type Hear = (ids: Ids) => void;

/** Hears what other server processes notify, on a connection of its own that is renewed when it breaks. */
export class Listener {
  private readonly emitter = new EventEmitter().setMaxListeners(0);
  private client: pg.Client | undefined;
  private closed = false;
  /** Whether notifications arrive now. While they don't, caches that rely on them must not be used. */
  connected = false;

  constructor(
    private readonly url: string,
    private readonly channels: readonly string[],
    /** What other processes can see of this one, behind the name of its connection. */
    private readonly about = "",
  ) {}

  /** Resolves when the first connection listens. */
  async start(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.url,
      application_name: `parley listener ${this.about}`.trim(),
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    });
    client.on("notification", ({ channel, payload }) =>
      this.emitter.emit(channel, JSON.parse(payload ?? "{}")),
    );
    client.on("error", () => void this.renew(client));
    client.on("end", () => void this.renew(client));
    try {
      await client.connect();
      for (const channel of this.channels) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    // Only a connection that listened is renewed when it breaks: an attempt that fails is the caller's.
    this.client = client;
    this.connected = true;
    if (this.closed) await this.stop();
  }

  /** Calls `hear` at each notification; the returned function ends that. */
  on(channel: string, hear: Hear): () => void {
    this.emitter.on(channel, hear);
    return () => void this.emitter.off(channel, hear);
  }

  /** Calls `renewed` each time the connection came back: what was notified in between is lost. */
  onRenewed(renewed: () => void): () => void {
    this.emitter.on(RENEWED, renewed);
    return () => void this.emitter.off(RENEWED, renewed);
  }

  async stop(): Promise<void> {
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
        this.emitter.emit(RENEWED);
        return;
      } catch {
        // the database is still away: the next round tries again
      }
    }
  }
}

const RENEWED = Symbol("renewed");
