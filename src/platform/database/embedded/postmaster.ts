import { type ChildProcess, execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chown, mkdtemp, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { exists, hasCode } from "./files";
import { type Place, runAt, spawnAt } from "./place";
import { remedyFor } from "./remedy";

/** PostgreSQL's main process on a cluster, according to postmaster.pid and its command line. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly ready: boolean;
  /** Name of the server that started it; see `serverName`. */
  readonly server: string | undefined;
}

/** Everything needed to start PostgreSQL, once or again. */
export interface Launch {
  readonly place: Place;
  readonly dataDir: string;
  readonly flags: readonly string[];
  readonly log: (line: string) => void;
}

/**
 * Command-line setting of PostgreSQL that names its server. It exists exactly as long as the process it describes.
 */
const SERVER_SETTING = "parley.server";
const POLL_INTERVAL_MS = 25;
export const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 8_000;
const run = promisify(execFile);

// The shell's stdin is a pipe that ends with Node, however Node ends; PostgreSQL then gets a fast shutdown. The
// signal is repeated each second, because a PostgreSQL that is just starting ignores it. The shell exits when
// PostgreSQL does.
const GUARD = `trap '' HUP INT TERM
exec 3<&0
"$@" </dev/null 3<&- & database=$!
{ read -r line; while kill -INT $database; do sleep 1; done; } <&3 2>/dev/null & guard=$!
exec 3<&-
wait $database; code=$?
kill -KILL $guard 2>/dev/null
exit $code`;

const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "max_connections=100",
  "shared_buffers=128MB",
  "timezone=UTC",
  "log_timezone=UTC",
  // The server logs failed statements itself and redacts their secrets.
  "log_min_messages=log",
  "log_error_verbosity=terse",
];

/**
 * The running postmaster of a cluster; undefined if postmaster.pid is stale or its process id belongs to another
 * program.
 */
export async function livePostmaster(cluster: string): Promise<Postmaster | undefined> {
  const lines = await lockFile(cluster);
  const pid = Number(lines[0]);
  if (!(pid > 0)) return undefined;
  const command = await commandLine(pid);
  if (!command.includes(` -D ${cluster} `)) return undefined;
  const server = new RegExp(`${SERVER_SETTING}=(\\S+)`).exec(command)?.[1];
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === "ready", server };
}

/** Name of this process; includes its start time, because process ids are reused. */
async function serverName(): Promise<string> {
  return `${process.pid}.${await startOf(process.pid)}`;
}

/** Process id of the server that started this postmaster; undefined if that server is dead. */
export async function liveServerOf(postmaster: Postmaster): Promise<number | undefined> {
  const [pid, start] = postmaster.server?.split(".") ?? [];
  return start !== undefined && (await startOf(Number(pid))) === start ? Number(pid) : undefined;
}

/** Prepares a cluster for starting: refuses if its server is alive, stops the postmaster of a dead server. */
export async function freeCluster(cluster: string, dataDir: string): Promise<void> {
  const postmaster = await livePostmaster(cluster);
  const server = postmaster && (await liveServerOf(postmaster));
  if (server)
    throw new Error(
      `DATA_DIR ${dataDir} is in use by another server (process ${server}). Stop that process, or set DATA_DIR to another folder.`,
    );
  if (postmaster) await endPostmaster(cluster);
  const [pid] = await lockFile(cluster);
  // PostgreSQL mistakes any live process with the id in a stale file for itself (common in containers, where ids are
  // small).
  if (pid && (await startOf(Number(pid)))) await rm(join(cluster, "postmaster.pid"), { force: true });
}

/**
 * Creates the cluster if there is none. It is renamed into place when complete, so neither a crash nor a second
 * starter can break it.
 */
export async function createCluster(place: Place, password: string, durable: boolean): Promise<void> {
  if (await exists(join(place.cluster, "PG_VERSION"))) return;
  await removeLeftovers(place.cluster);
  const fresh = await mkdtemp(`${place.cluster}.new-${process.pid}-`);
  if (place.user) await chown(fresh, place.user.uid, place.user.gid);
  const initdb = [join(place.programs, "initdb"), "-D", fresh, "-U", "parley", "--auth=scram-sha-256"];
  const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
  const options = ["--pwfile=/dev/stdin", "--no-instructions", ...(durable ? [] : ["--no-sync"])];
  try {
    // `cat`, because initdb opens /dev/stdin by name, which fails for the socket that Node provides. The password is
    // never written to a file.
    await runAt(place, ["-c", 'cat | "$@"', "initdb", ...initdb, ...locale, ...options], password);
    await rename(fresh, place.cluster);
    if (durable) await syncFolder(dirname(place.cluster));
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    if (hasCode(error, "ENOTEMPTY", "EEXIST")) return;
    const { message } = error as Error;
    throw new Error(`${message}${await remedyFor(message, place.cluster)}`, { cause: error });
  }
}

/** Starts PostgreSQL once and waits until it is ready. */
export async function launchOnce({ place, dataDir, flags }: Launch, port: number): Promise<ChildProcess> {
  const server = `${await serverName()}.${randomBytes(4).toString("hex")}`;
  const settings = [...SETTINGS, `port=${port}`, `${SERVER_SETTING}=${server}`, ...flags];
  const logFile = join(dataDir, "postgres.log");
  const output = await open(logFile, "a", 0o600);
  const { size } = await output.stat();
  const program = join(place.programs, "postgres");
  const args = ["-c", GUARD, "parley-postgres", program, "-D", place.cluster].concat(
    settings.flatMap((it) => ["-c", it]),
  );
  // Detached, so that Ctrl-C in the terminal does not reach it; unreferenced, so that Node can exit without it.
  const child = spawnAt(place, "/bin/sh", args, { stdio: ["pipe", output.fd, output.fd], detached: true });
  let over = false;
  for (const event of ["exit", "error"]) child.once(event, () => (over = true));
  child.unref();
  await output.close();
  for (const until = performance.now() + START_TIMEOUT_MS; ; await sleep(POLL_INTERVAL_MS)) {
    const postmaster = over ? undefined : await livePostmaster(place.cluster);
    if (postmaster?.ready && postmaster.server === server) return child;
    if (!over && performance.now() < until) continue;
    await endChild(child, place.cluster);
    const lines = (await readFile(logFile)).subarray(size).toString().trim().split("\n");
    const said = lines.slice(-12).join("\n");
    throw new Error(
      `PostgreSQL did not start on ${place.cluster}. The end of ${logFile}:\n${said}${await remedyFor(said, place.cluster)}`,
    );
  }
}

/** Performs a fast shutdown, or after a timeout an immediate one, which loses nothing either. */
export async function endChild(child: ChildProcess, cluster: string): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.ref();
  child.stdin?.destroy();
  const impatient = setTimeout(() => {
    void livePostmaster(cluster).then((postmaster) => postmaster && signalTo(postmaster.pid, "SIGQUIT"));
  }, STOP_TIMEOUT_MS);
  await ended.finally(() => clearTimeout(impatient));
}

/** Performs a fast shutdown of any postmaster on the cluster, or after a timeout an immediate one. */
export async function endPostmaster(cluster: string): Promise<void> {
  for (const signal of ["SIGINT", "SIGQUIT"] as const) {
    if (await goneAfter(cluster, signal, 15_000)) return;
  }
  throw new Error(`The PostgreSQL server on ${cluster} does not stop. End its processes, then try again.`);
}

async function goneAfter(cluster: string, signal: NodeJS.Signals, timeoutMs: number): Promise<boolean> {
  const postmaster = await livePostmaster(cluster);
  if (!postmaster) return true;
  signalTo(postmaster.pid, signal);
  for (
    const until = performance.now() + timeoutMs;
    performance.now() < until;
    await sleep(POLL_INTERVAL_MS)
  ) {
    if (!(await livePostmaster(cluster))) return true;
  }
  return false;
}

/** Removes the remains of an interrupted first start. */
async function removeLeftovers(cluster: string): Promise<void> {
  for (const name of await readdir(dirname(cluster))) {
    const pid = /^postgres\.new-(\d+)-/.exec(name)?.[1];
    if (!pid || (await startOf(Number(pid)))) continue;
    await rm(join(dirname(cluster), name), { recursive: true, force: true });
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  await handle.sync().finally(() => handle.close());
}

/** Sends a signal; ignores processes that have ended. */
function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasCode(error, "ESRCH")) throw error;
  }
}

/** Start time of a process, as opaque text without dots or spaces; undefined for a dead or unreaped one. */
async function startOf(pid: number): Promise<string | undefined> {
  if (process.platform !== "linux") {
    const [state, ...start] = (await ps(pid, "state=,lstart=")).split(/\s+/);
    return state && !state.startsWith("Z") ? start.join("_") : undefined;
  }
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // the name before it may contain spaces and parentheses
  return stat && fields[0] !== "Z" && fields[0] !== "X" ? fields[19] : undefined;
}

async function commandLine(pid: number): Promise<string> {
  if (process.platform !== "linux") return ps(pid, "command=");
  return (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ");
}

async function ps(pid: number, columns: string): Promise<string> {
  const env = { ...process.env, LC_ALL: "C" }; // stable date format
  const options = ["-ww", "-o", columns, "-p", String(pid)];
  const { stdout } = await run("ps", options, { env }).catch(() => ({ stdout: "" }));
  return stdout.trim();
}

async function lockFile(cluster: string): Promise<string[]> {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return "";
    throw error;
  });
  return text.split("\n");
}
