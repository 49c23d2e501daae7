import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import { startEmbedded, type EmbeddedDatabase } from "../../src/platform/database/embedded/embedded";
import { Receiver } from "../support/receiver";
import { newAccount, Twilio, type Account } from "../support/twilio";
import { FakeVapi } from "../support/vapi";
import { EchoModel } from "./echo-model";
import { ServerProcess } from "./servers";

export const SECRET_KEY = "secret-key-of-the-soak-test";
export const PUBLIC_KEY = "public-key-of-the-soak-test";
/** The installation's address for providers. */
export const PUBLIC_URL = "http://parley.example";

/** A proxy to the database that can be made to hang, as if packets were lost. */
class Proxy {
  private readonly sockets = new Set<Socket>();
  private hanging = false;
  private readonly server: Server;

  constructor(target: () => number) {
    this.server = createServer((near) => {
      const far = connect(target(), "127.0.0.1");
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on("error", () => [near, far].forEach((end) => end.destroy()));
        socket.on("close", () => [near, far].forEach((end) => (end.destroy(), this.sockets.delete(end))));
        if (this.hanging) socket.pause();
      }
    });
  }

  async start(): Promise<number> {
    await once(this.server.listen(0, "127.0.0.1"), "listening");
    return (this.server.address() as AddressInfo).port;
  }

  hang(hanging: boolean): void {
    this.hanging = hanging;
    for (const socket of this.sockets) socket[hanging ? "pause" : "resume"]();
  }

  stop(): void {
    this.server.close();
    this.sockets.forEach((socket) => socket.destroy());
  }
}

/** Three servers, their database and the services that they use, each a process or an HTTP server on loopback. */
export class Installation {
  readonly receiver = new Receiver();
  readonly model = new EchoModel();
  readonly twilio = new Twilio();
  readonly vapi = new FakeVapi();
  readonly account: Account = newAccount();
  readonly servers: ServerProcess[] = [];
  /** Connections to the database that bypass the proxy. */
  pool!: Pool;
  private database!: EmbeddedDatabase;
  private readonly folder = mkdtempSync(join(tmpdir(), "parley-soak-"));
  /** The servers' logs, which outlive the installation. */
  readonly logs = mkdtempSync(join(tmpdir(), "parley-soak-logs-"));
  private readonly proxy = new Proxy(() => Number(new URL(this.database.url).port));

  async start(): Promise<void> {
    await Promise.all([this.receiver.start(), this.model.start(), this.twilio.start(), this.vapi.start()]);
    await this.startDatabase();
    const url = new URL(this.database.url);
    url.port = String(await this.proxy.start());
    this.pool = new Pool({ connectionString: this.database.url, max: 4 });
    this.pool.on("error", () => undefined); // the tests stop the database
    const env = this.settings(url.href);
    for (const name of ["A", "B", "C"])
      this.servers.push(await ServerProcess.start(name, env, join(this.logs, `${name}.log`)));
  }

  private settings(databaseUrl: string): Record<string, string> {
    return {
      DATABASE_URL: databaseUrl,
      DATA_DIR: join(this.folder, "shared"),
      ENCRYPTION_KEYS: "the encryption key of the soak test only",
      HOST: "127.0.0.1",
      PUBLIC_BASE_URL: PUBLIC_URL,
      BOOTSTRAP_SECRET_KEY: SECRET_KEY,
      BOOTSTRAP_PUBLIC_KEY: PUBLIC_KEY,
      OUTBOUND_ALLOW: "127.0.0.0/8",
      TAKEOVER_SECONDS: "15",
      OPENAI_API_KEY: "none",
      OPENAI_BASE_URL: this.model.url,
      EMBEDDING_MODEL: "off",
      TWILIO_BASE_URL: this.twilio.url,
      VAPI_API_KEY: "key",
      VAPI_BASE_URL: this.vapi.url,
      VAPI_PHONE_NUMBER_ID: "number-1",
      LOG_LEVEL: "warn",
    };
  }

  async startDatabase(): Promise<void> {
    this.database = await startEmbedded({ dataDir: join(this.folder, "database"), log: () => undefined });
  }

  /** Shuts the database down cleanly, as for an upgrade. */
  stopDatabase(): Promise<void> {
    return this.database.stop();
  }

  hangDatabase(hanging: boolean): void {
    this.proxy.hang(hanging);
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.end("SIGTERM")));
    await this.pool.end();
    this.proxy.stop();
    await this.database.stop();
    await Promise.all([this.receiver.stop(), this.model.stop(), this.twilio.stop(), this.vapi.stop()]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
