import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port";
import { until } from "./until";

/** Debian's, or another build, e.g. one that knows prepared statements. */
export const PGBOUNCER = process.env.PGBOUNCER_BIN ?? "/usr/sbin/pgbouncer";
export const hasPgBouncer = (): boolean => existsSync(PGBOUNCER);

/** Whether it knows prepared statements, as versions from 1.21 on do. */
export function knowsPrepared(): boolean {
  const [, minor = 0] = /PgBouncer 1\.(\d+)/.exec(execFileSync(PGBOUNCER, ["--version"]).toString()) ?? [];
  return Number(minor) >= 21;
}

/** PgBouncer refuses to run as root. */
const NOBODY = 65_534;

/** Settings that the documentation asks operators to give the role of a server behind a pooler. */
export const ROLE_SETTINGS = {
  statement_timeout: "5s",
  idle_in_transaction_session_timeout: "15s",
  timezone: "UTC",
} as const;

export interface PgBouncer {
  readonly pid: number;
  /** The URL of a database through it. */
  through(url: string): string;
  /** Ends it at once, like a crash. */
  kill(): Promise<void>;
  /** Starts it again at the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts PgBouncer in front of a PostgreSQL.
 * @param postgres URL of any of its databases
 * @param users names of roles, with their passwords
 */
export async function startPgBouncer(
  postgres: string,
  users: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, string>> = {},
): Promise<PgBouncer> {
  const { hostname, port: postgresPort } = new URL(postgres);
  const folder = mkdtempSync(join(tmpdir(), "parley-pgbouncer-"));
  chmodSync(folder, 0o755);
  const port = await freePort();
  const all = {
    ...{ listen_addr: "127.0.0.1", listen_port: String(port), unix_socket_dir: "" },
    ...{ auth_type: "plain", auth_file: join(folder, "users.txt") },
    ...{ pool_mode: "transaction", default_pool_size: "20", max_client_conn: "1000" },
    ...(knowsPrepared() && { max_prepared_statements: "500" }),
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const ini = join(folder, "pgbouncer.ini");
  writeFileSync(
    ini,
    `[databases]\n* = host=${hostname} port=${postgresPort}\n[pgbouncer]\n${lines.join("\n")}\n`,
  );
  writeFileSync(
    all.auth_file,
    Object.entries(users)
      .map(([name, password]) => `"${name}" "${password}"\n`)
      .join(""),
  );
  let child = await run(ini, port);
  return {
    get pid() {
      return child.pid!;
    },
    through: (url) => Object.assign(new URL(url), { hostname: "127.0.0.1", port: String(port) }).href,
    kill: () => end(child, "SIGKILL"),
    restart: async () => {
      child = await run(ini, port);
    },
    stop: async () => {
      await end(child, "SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function run(ini: string, port: number): Promise<ChildProcess> {
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(PGBOUNCER, ["--quiet", ini], { ...identity, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}: ${said}`);
    return answers(port);
  });
  return child;
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, "exit");
}
