import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { statement } from "./database";
import { freePort } from "./free-port";
import { until } from "./until";

const ROOT = "/usr/lib/postgresql";
/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const identity = () => (process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {});

/** The folder with the programs of Debian's newest PostgreSQL; undefined if none is installed. */
function programs(): string | undefined {
  const versions = existsSync(ROOT) ? readdirSync(ROOT).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(ROOT, version, "bin")).find((bin) => existsSync(join(bin, "initdb")));
}

/** Whether the system has a PostgreSQL; the embedded one cannot copy itself. */
export const hasSystemPostgres = (): boolean => programs() !== undefined;

const run = (program: string, ...args: readonly string[]) =>
  execFileSync(join(programs()!, program), args, {
    ...identity(),
    cwd: "/",
    stdio: ["ignore", "ignore", "pipe"],
  });

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
    run("initdb", "-D", made.data, "-U", "parley", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8");
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
    run("pg_basebackup", "-D", made.data, "-d", this.url("postgres"), "--checkpoint=fast", ...options);
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
    const settings = [
      "listen_addresses=127.0.0.1",
      "unix_socket_directories=",
      "fsync=off",
      "max_connections=200",
    ];
    const own = Object.entries(this.settings).map(([name, value]) => `${name}=${value}`);
    const flags = [
      "-D",
      this.data,
      "-p",
      String(this.port),
      ...[...settings, ...own].flatMap((each) => ["-c", each]),
    ];
    rmSync(this.lockFile, { force: true }); // a crash leaves one
    this.process = spawn(join(programs()!, "postgres"), flags, { ...identity(), cwd: "/", stdio: "ignore" });
    await until(() =>
      Promise.resolve(existsSync(this.lockFile) && /^ready/m.test(readFileSync(this.lockFile, "utf8"))),
    );
  }

  /** Makes a replica a primary. */
  promote(): void {
    run("pg_ctl", "promote", "-D", this.data, "--wait");
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

  /** Its last line says whether the server accepts connections. */
  private get lockFile(): string {
    return join(this.data, "postmaster.pid");
  }
}

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-standby-"));
  const { uid, gid } = identity();
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return folder;
}
