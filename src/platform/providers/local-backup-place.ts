import { access, constants, readdir, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder } from "../make-folder";
import type { BackupPlace } from "../ports/backup-place";
import { thisUser } from "../settings/this-user";
import { localStorage } from "./local-storage";

/** A folder for a backup. */
export function localBackupPlace(folder: string): BackupPlace {
  const storage = localStorage(folder);
  const written = new Set<string>();
  let made: string | undefined;
  return {
    name: folder,
    prepare: async () => void (made = await makeEmpty(folder)),
    write: async (path, content) => {
      written.add(path);
      await storage.put(path, content).catch((error: unknown) => refuseFull(folder, error));
    },
    async discard() {
      for (const path of written) await storage.remove(path);
      const inside = [...written].flatMap((path) => above(join(folder, path), folder));
      const outside = made === undefined ? [] : [folder, ...above(folder, dirname(made))];
      const folders = [...new Set([...inside, ...outside])].sort((a, b) => b.length - a.length);
      for (const each of folders) await rmdir(each).catch(unlessInUse);
    },
    read: async (path) => ((await storage.has(path)) ? storage.get(path) : undefined),
  };
}

/** The folders above a path, up to the last one, which is left out. */
function above(path: string, last: string): string[] {
  const folder = dirname(path);
  return folder === last || folder === path ? [] : [folder, ...above(folder, last)];
}

/** @throws errors other than that of a folder with files of others, or that does not exist */
function unlessInUse(error: NodeJS.ErrnoException): void {
  if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(error.code ?? "")) throw error;
}

const notWritable = (folder: string, user: string): string =>
  `The user ${user} cannot write to ${folder}. Name a folder that this user may write, or create it for this user as an administrator:\n  sudo install -d -o ${user} -m 700 '${folder}'`;

/** @throws Error with the remedy for a full disk, else the original error */
function refuseFull(folder: string, error: unknown): never {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (!["ENOSPC", "EDQUOT"].includes(code)) throw error;
  throw new Error(`The disk of ${folder} is full (${code}). Free space, or name a folder on another disk.`, {
    cause: error,
  });
}

/** @returns the first folder that was created; undefined if it existed */
async function makeEmpty(folder: string): Promise<string | undefined> {
  let made: string | undefined;
  try {
    made = makeFolder(folder, 0o700);
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["EEXIST", "ENOTDIR", "ENOENT"].includes(code))
      throw new Error(
        `${folder} cannot be a folder: it or one above it is a file. Name a new folder for the backup.`,
        { cause: error },
      );
    if (!["EACCES", "EPERM", "EROFS"].includes(code)) throw error;
    throw new Error(notWritable(folder, thisUser()), { cause: error });
  }
  if ((await readdir(folder)).length > 0)
    throw new Error(`${folder} is not empty. Name a new folder for the backup.`);
  return made;
}
