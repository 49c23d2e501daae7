import { access, constants, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { thisUser } from "../settings/this-user";

/** Maximum number of files named in the message. */
const MAX_NAMED = 8;

interface ForeignFile {
  readonly path: string;
  readonly uid: number;
}

/**
 * Checks that this user can access DATA_DIR and its content: files created by root may be inaccessible to others.
 * @throws Error naming the folder or the files, and the command that changes their owner
 */
export async function checkOwnership(dataDir: string): Promise<void> {
  const uid = process.getuid?.();
  if (uid === undefined || uid === 0) return;
  await stat(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EACCES") throw new Error(unreachable(dataDir), { cause: error });
  });
  const foreign: ForeignFile[] = [];
  for (const path of await contents(dataDir)) {
    const owner = (await stat(path).catch(() => undefined))?.uid;
    if (owner !== undefined && owner !== uid && !(await isUsable(path))) foreign.push({ path, uid: owner });
  }
  if (foreign.length > 0) throw new Error(messageOf(foreign, await foldersToOwn(dataDir, foreign)));
}

/**
 * Paths of DATA_DIR, its entries, the file storage, and the cluster if it is elsewhere, as far as this user can see
 * them.
 */
async function contents(dataDir: string): Promise<string[]> {
  const list = async (folder: string) =>
    (await readdir(folder).catch(() => [])).map((name) => join(folder, name));
  const elsewhere = await clusterElsewhere(dataDir);
  return [dataDir, ...(await list(dataDir)), ...(await list(join(dataDir, "files"))), ...elsewhere];
}

async function clusterElsewhere(dataDir: string): Promise<string[]> {
  const text = await readFile(join(dataDir, "postgres.json"), "utf8").catch(() => "{}");
  const { cluster } = JSON.parse(text) as { cluster?: string }; // written by the embedded database only
  return cluster === undefined ? [] : [cluster];
}

/**
 * Whether this user can use a path. PostgreSQL must own its folder; everything else must be readable and writable.
 */
async function isUsable(path: string): Promise<boolean> {
  const { R_OK, W_OK, X_OK } = constants;
  const needed = (await stat(path)).isDirectory() ? R_OK | W_OK | X_OK : R_OK | W_OK;
  return access(path, needed).then(
    () => true,
    () => false,
  );
}

/** Folders to change the owner of: DATA_DIR, and a cluster outside it. */
async function foldersToOwn(dataDir: string, foreign: readonly ForeignFile[]): Promise<string[]> {
  const elsewhere = await clusterElsewhere(dataDir);
  return [dataDir, ...elsewhere.filter((cluster) => foreign.some(({ path }) => path === cluster))];
}

const unreachable = (dataDir: string): string =>
  `DATA_DIR ${dataDir} cannot be entered by the user ${thisUser()}, because a folder above it does not permit this. Set DATA_DIR to a folder of that user, or let the user enter all folders above it.`;

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
