import { type ChildProcess, execFile, spawn, type SpawnOptions } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, chown, mkdtemp, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { makeFolder } from "../../make-folder";
import { mistake } from "../../mistake";
import { exists, hasCode } from "./files";
import { installedPrograms } from "./installed-programs";

/** Way to run PostgreSQL, which refuses to run as root, if the server is root. */
export type RootWorkaround = "nobody" | "unshare" | "system";

/** Location of PostgreSQL's programs and data, and the user that runs it. */
export interface Place {
  readonly programs: string;
  readonly cluster: string;
  /** The user that root switches to. */
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly wayAsRoot?: RootWorkaround;
}

const CACHE = "/var/cache/parley";
const STATE = "/var/lib/parley";
const NOBODY = 65534;
const PROBE = 'cd "$1" && test -O . && : > written && "$2" --version && exec "$3" --version';
const run = promisify(execFile);

/** Finds the place of DATA_DIR's database, starting with its current location and the way chosen before. */
export async function findPlace(
  dataDir: string,
  before: Pick<Place, "cluster" | "wayAsRoot">,
  log: (line: string) => void,
): Promise<Place> {
  const native = await installedPrograms();
  const here: Place = { programs: join(native, "bin"), cluster: before.cluster };
  if (process.getuid?.() !== 0) return here;
  const place = before.wayAsRoot === "system" ? undefined : await placeInDataDir(here, before.wayAsRoot);
  if (place) await takeOwnership(place);
  return place ?? systemPlace(native, dataDir, before, log);
}

/** Starts a program in a place: not as root, and without the server's environment, which contains secrets. */
export function spawnAt(place: Place, program: string, args: string[], options: SpawnOptions): ChildProcess {
  const unshare = ["unshare", "-U", `--map-user=${NOBODY}`];
  const [file = program, ...rest] = [...(place.wayAsRoot === "unshare" ? unshare : []), program, ...args];
  const env = { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C" };
  return spawn(file, rest, { ...options, ...place.user, cwd: "/", env });
}

/**
 * Tries the ways that leave the data in DATA_DIR: as nobody (or the current owner of the data), else in a user
 * namespace.
 */
async function placeInDataDir(here: Place, before: RootWorkaround | undefined): Promise<Place | undefined> {
  const owner = await stat(here.cluster).catch(() => undefined);
  const as = ({ uid, gid }: { uid: number; gid: number }): Place => ({
    ...here,
    user: { uid, gid },
    wayAsRoot: "nobody",
  });
  const ways: Place[] = [as(await nobody()), { ...here, wayAsRoot: "unshare" }];
  if (before === "unshare") ways.reverse();
  if (owner && owner.uid !== 0) ways.unshift(as(owner));
  for (const place of ways) {
    if (await isUsable(place)) return place;
  }
  if (!owner) return undefined;
  throw mistake(
    new Error(
      `PostgreSQL cannot run as root, and the user "nobody" cannot enter ${here.cluster}. Give "nobody" access to that folder, or start Parley as another user.`,
    ),
  );
}

/** Last resort: moves programs and data to folders outside DATA_DIR that the user "nobody" can enter. */
async function systemPlace(
  native: string,
  dataDir: string,
  before: Pick<Place, "cluster" | "wayAsRoot">,
  log: (line: string) => void,
): Promise<Place> {
  const kept = before.wayAsRoot === "system";
  const cluster = kept ? before.cluster : join(STATE, randomBytes(6).toString("hex"), "postgres");
  if (kept && !(await exists(dirname(cluster)))) {
    throw mistake(
      new Error(
        `The database of DATA_DIR ${dataDir} should be in ${cluster}, but that folder does not exist. Restore it, or set DATA_DIR to an empty folder.`,
      ),
    );
  }
  const place: Place = {
    programs: join(await copiedPrograms(native), "bin"),
    cluster,
    user: await nobody(),
    wayAsRoot: "system",
  };
  await makeEnterable(dirname(cluster));
  if (!(await isUsable(place)))
    throw mistake(
      new Error(
        `PostgreSQL cannot run as root, and "nobody" cannot run it from ${CACHE} on ${STATE}. Start Parley as another user, or set DATABASE_URL.`,
      ),
    );
  await takeOwnership(place);
  log(
    `PostgreSQL cannot run as root and runs as "nobody", who cannot enter this folder: its programs are in ${CACHE}, the data of ${dataDir} in ${cluster}.`,
  );
  return place;
}

async function copiedPrograms(native: string): Promise<string> {
  const text = await readFile(join(native, "..", "package.json"), "utf8");
  const { version } = JSON.parse(text) as { version: string }; // npm's own file
  const target = join(CACHE, `postgresql-${version}`);
  if (await exists(target)) return target;
  await makeEnterable(CACHE);
  const fresh = await mkdtemp(`${target}.new-`);
  await run("cp", ["-RP", `${native}/.`, fresh]);
  await run("chmod", ["-R", "a+rX", fresh]);
  await rename(fresh, target).catch(async (error: unknown) => {
    await rm(fresh, { recursive: true, force: true });
    if (!hasCode(error, "ENOTEMPTY", "EEXIST")) throw error;
  });
  return target;
}

/**
 * Creates DATA_DIR. If the server is root, PostgreSQL's user may pass through the folder to the cluster, but only
 * root may read it.
 * @throws Error naming the setting
 */
export async function makeDataDir(dataDir: string): Promise<void> {
  try {
    if (process.getuid?.() === 0) await makeEnterable(dataDir);
    else makeFolder(dataDir, 0o700);
  } catch (error) {
    throw unusable(dataDir, error as NodeJS.ErrnoException);
  }
}

function unusable(dataDir: string, cause: NodeJS.ErrnoException): Error {
  const { code = "", message } = cause;
  const isFile = code === "EEXIST" || code === "ENOTDIR";
  const reason = isFile ? "it is a file, or its path leads through a file" : message;
  const text = `DATA_DIR ${dataDir} cannot be used: ${reason}. Set DATA_DIR to a folder that you may write.`;
  const error = new Error(text, { cause });
  return /^(ENOSPC|EDQUOT|EIO)$/.test(code) ? error : mistake(error);
}

/** Creates a folder that others may enter, whatever the umask; existing folders keep their mode. */
async function makeEnterable(folder: string): Promise<void> {
  const first = makeFolder(folder);
  for (let made = folder; first && made.length >= first.length; made = dirname(made)) {
    await chmod(made, 0o711);
  }
}

/** Tries everything that PostgreSQL needs: enter, own, write, run. */
async function isUsable(place: Place): Promise<boolean> {
  const folder = await mkdtemp(join(dirname(place.cluster), ".probe-"));
  try {
    if (place.user) await chown(folder, place.user.uid, place.user.gid);
    const programs = [join(place.programs, "postgres"), join(place.programs, "initdb")];
    await runAt(place, ["-c", PROBE, "probe", folder, ...programs]);
    return true;
  } catch {
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Changes the owner of an existing cluster if the user that runs it has changed. */
async function takeOwnership({ cluster, user }: Place): Promise<void> {
  const { uid, gid } = user ?? { uid: 0, gid: 0 };
  const found = await stat(cluster).catch(() => undefined);
  if (found && found.uid !== uid) await run("chown", ["-hR", `${uid >>> 0}:${gid >>> 0}`, cluster]);
}

async function nobody(): Promise<{ uid: number; gid: number }> {
  const id = async (option: string) => {
    const { stdout } = await run("id", [option, "nobody"]).catch(() => ({ stdout: String(NOBODY) }));
    return Number(stdout) | 0; // macOS prints 4294967294 where Node expects -2
  };
  return { uid: await id("-u"), gid: await id("-g") };
}

/** Runs the shell in a place; its third argument is named in errors. */
export async function runAt(place: Place, args: string[], input = ""): Promise<void> {
  const child = spawnAt(place, "/bin/sh", args, { stdio: "pipe" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += String(chunk)));
  child.stdin?.on("error", () => undefined); // the exit code reports programs that end early
  child.stdin?.end(input);
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${args[2]} failed: ${output.trim()}`);
}
