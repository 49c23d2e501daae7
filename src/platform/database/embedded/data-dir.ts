import { access, constants, readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { thisUser } from "../../settings/this-user";
import { mistake } from "../../mistake";
import { exists } from "./files";

/** Maximum number of files named in the message. */
const MAX_NAMED = 8;
/** Names of Parley's own files and folders in DATA_DIR. */
const OWN = /^(encryption-keys|files|postgres|postgres\..*|server-address)$/;
/** Files that identify a folder of Parley's if the user may not list it. */
const MARKS = ["encryption-keys", "postgres.json"];

interface ForeignFile {
  readonly path: string;
  readonly uid: number;
}

/**
 * Checks that this user can create DATA_DIR, or access it and Parley's files in it: those created by root may be
 * inaccessible to others.
 * @throws Error naming the folder or the files, and the command that helps
 */
export async function checkOwnership(dataDir: string): Promise<void> {
  const problem = await folderProblem(dataDir);
  if (problem !== undefined) throw mistake(new Error(problem));
}

/** Why this user cannot use DATA_DIR, and what helps; undefined if nothing is in the way. */
export async function folderProblem(dataDir: string): Promise<string | undefined> {
  const existing = await nearest(dataDir);
  if (existing === undefined) return unreachable(dataDir);
  if (!(await stat(existing)).isDirectory())
    return `DATA_DIR ${dataDir} cannot be used: ${existing} is a file. Set DATA_DIR to a folder.`;
  if (existing !== dataDir) {
    const refused = await refusal(existing);
    return refused && cannotBe(`created in ${existing}`, dataDir, refused, dataDir);
  }
  const names: readonly string[] = await readdir(dataDir).catch(() => []);
  const own = names.length > 0 ? names.filter((name) => OWN.test(name)) : await marksIn(dataDir);
  const isOurs = own.some((name) => MARKS.includes(name)) || (own.length > 0 && own.length === names.length);
  if (isOurs) return foreignFiles(dataDir, own, names);
  const refused = await refusal(dataDir);
  const isEmpty = names.length === 0 && (await readdir(dataDir).catch(() => undefined)) !== undefined;
  return refused && cannotBe("written", dataDir, refused, isEmpty ? dataDir : join(dataDir, "parley"));
}

/** The path itself if it exists, else the nearest one above it; undefined if this user may not look. */
async function nearest(path: string): Promise<string | undefined> {
  const code = await stat(path).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  );
  if (code === undefined) return path;
  return code === "ENOENT" || code === "ENOTDIR" ? nearest(dirname(path)) : undefined;
}

/** Code of the error if this user cannot use a path. PostgreSQL must own its folder; others must read and write. */
async function refusal(path: string): Promise<string | undefined> {
  const { R_OK, W_OK, X_OK } = constants;
  const needed = (await stat(path)).isDirectory() ? R_OK | W_OK | X_OK : R_OK | W_OK;
  return access(path, needed).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code ?? "",
  );
}

async function marksIn(dataDir: string): Promise<string[]> {
  const found = await Promise.all(MARKS.map((name) => exists(join(dataDir, name))));
  return MARKS.filter((_, index) => found[index]);
}

/** Reports Parley's files that this user cannot use, with the command that changes their owner. */
async function foreignFiles(
  dataDir: string,
  own: readonly string[],
  names: readonly string[],
): Promise<string | undefined> {
  const uid = process.getuid?.();
  const foreign: ForeignFile[] = [];
  for (const path of await contents(dataDir, own)) {
    const owner = (await stat(path).catch(() => undefined))?.uid;
    const isForeign = owner !== undefined && owner !== uid && (await refusal(path)) !== undefined;
    if (isForeign) foreign.push({ path, uid: owner });
  }
  if (foreign.length === 0) return undefined;
  const isShared = own.length < names.length;
  const folders = isShared ? own.map((name) => join(dataDir, name)) : [dataDir];
  const elsewhere = (await clusterElsewhere(dataDir)).filter((cluster) =>
    foreign.some(({ path }) => path === cluster),
  );
  return messageOf(foreign, [...folders, ...elsewhere]);
}

/** Paths of DATA_DIR, Parley's entries in it, the file storage, and the cluster if it is elsewhere. */
async function contents(dataDir: string, own: readonly string[]): Promise<string[]> {
  const files: readonly string[] = await readdir(join(dataDir, "files")).catch(() => []);
  const inside = [...own, ...files.map((name) => join("files", name))].map((name) => join(dataDir, name));
  return [dataDir, ...inside, ...(await clusterElsewhere(dataDir))];
}

async function clusterElsewhere(dataDir: string): Promise<string[]> {
  const text = await readFile(join(dataDir, "postgres.json"), "utf8").catch(() => "{}");
  const { cluster } = JSON.parse(text) as { cluster?: string }; // written by the embedded database only
  return cluster === undefined ? [] : [cluster];
}

const unreachable = (dataDir: string): string =>
  `DATA_DIR ${dataDir} cannot be entered by the user ${thisUser()}, because a folder above it does not permit this. Set DATA_DIR to a folder of that user, or let the user enter all folders above it.`;

/** @param better a folder for Parley alone, which an administrator can create or give to this user */
function cannotBe(what: string, dataDir: string, code: string, better: string): string {
  if (code === "EROFS")
    return `DATA_DIR ${dataDir} cannot be ${what}: the file system is mounted read-only. Set DATA_DIR to another folder.`;
  const user = thisUser();
  const isShared = better !== dataDir;
  return [
    `DATA_DIR ${dataDir} cannot be ${what} by the user ${user}${isShared ? ", and the folder is not Parley's own" : ""}.`,
    `Set DATA_DIR to a folder of that user. An administrator creates one${isShared ? "" : " at this place"} with:`,
    `  sudo install -d -o ${user} -m 700 '${better}'`,
  ].join("\n");
}

function messageOf(foreign: readonly ForeignFile[], folders: readonly string[]): string {
  const named = foreign.slice(0, MAX_NAMED).map(({ path, uid }) => `  ${path} (owner: ${nameOf(uid)})`);
  const more = foreign.length > MAX_NAMED ? [`  and ${foreign.length - MAX_NAMED} more`] : [];
  const command = `  sudo chown -R ${thisUser()} ${folders.map((folder) => `'${folder}'`).join(" ")}`;
  return [
    "These files belong to another user, probably because Parley was started as root:",
    ...named,
    ...more,
    `To give them to the user ${thisUser()}, run as an administrator:`,
    command,
  ].join("\n");
}

const nameOf = (uid: number): string => (uid === 0 ? "root" : `user ${uid}`);
