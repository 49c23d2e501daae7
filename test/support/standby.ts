import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { statement } from "./database";
import { freePort } from "./free-port";
import { roomiest } from "./roomiest";
import { createCluster, identity, isReady, programs, runProgram, startCluster } from "./system-postgres.cjs";
import { until } from "./until";

/** Whether the system has a PostgreSQL; the embedded one cannot copy itself. */
export const hasSystemPostgres = (): boolean => programs() !== undefined;

/** A PostgreSQL of the system, which can have replicas. */
export class SystemPostgres {
  private process?: ChildProcess;

  private constructor(
    private readonly folder: string,
    readonly port: number,
    private settings: Readonly<Record<string, string>> = {},
  ) {}

  /** Creates and starts one with an empty cluster. */
  static async primary(settings: Readonly<Record<string, string>> = {}): Promise<SystemPostgres> {
    const made = new SystemPostgres(emptyFolder(), await freePort(), settings);
    createCluster(made.data);
    await made.start();
    return made;
  }

  /** Creates and starts a streaming replica of this one. */
  async replica(settings: Readonly<Record<string, string>> = {}): Promise<SystemPostgres> {
    const made = await this.baseBackup(settings, "--write-recovery-conf");
    await made.start();
    return made;
  }

  /** Copies this one with pg_basebackup. The copy is not started. */
  async baseBackup(
    settings: Readonly<Record<string, string>> = {},
    ...options: readonly string[]
  ): Promise<SystemPostgres> {
    const made = new SystemPostgres(emptyFolder(), await freePort(), settings);
    runProgram("pg_basebackup", "-D", made.data, "-d", this.url("postgres"), "--checkpoint=fast", ...options);
    return made;
  }

  /** Starts a copy that replays archived log as far as the settings say, and waits until it accepts writes. */
  async recover(settings: Readonly<Record<string, string>>): Promise<void> {
    this.settings = { ...this.settings, ...settings };
    writeFileSync(join(this.data, "recovery.signal"), "");
    await this.start();
    await until(() => statement(this.url("postgres"), "create temporary table writable ()").then(() => true));
  }

  url(database: string): string {
    return `postgres://parley@127.0.0.1:${this.port}/${database}`;
  }

  async start(): Promise<void> {
    rmSync(this.lockFile, { force: true }); // a crash leaves one
    this.process = startCluster(this.data, this.port, {
      fsync: "off",
      max_connections: "200",
      ...this.settings,
    });
    await until(() => Promise.resolve(isReady(this.data)));
  }

  /** Makes a replica a primary. */
  promote(): void {
    runProgram("pg_ctl", "promote", "-D", this.data, "--wait");
  }

  /** Lets a replica stop following its primary, or go on. */
  async follow(goesOn: boolean): Promise<void> {
    await statement(this.url("postgres"), `select pg_wal_replay_${goesOn ? "resume" : "pause"}()`);
  }

  /** Ends it at once, like a crash, or with all its connections. */
  async end(signal: "SIGKILL" | "SIGINT"): Promise<void> {
    const child = this.process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  }

  async remove(): Promise<void> {
    await this.end("SIGINT");
    rmSync(this.folder, { recursive: true, force: true });
  }

  private get data(): string {
    return join(this.folder, "data");
  }

  private get lockFile(): string {
    return join(this.data, "postmaster.pid");
  }
}

function emptyFolder(): string {
  const folder = mkdtempSync(join(roomiest(), "parley-standby-"));
  const { uid, gid } = identity();
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return folder;
}
