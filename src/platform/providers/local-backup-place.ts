import { access, constants, readdir } from "node:fs/promises";
import { makeFolder } from "../make-folder";
import type { BackupPlace } from "../ports/backup-place";
import { thisUser } from "../settings/this-user";
import { localStorage } from "./local-storage";

/** A folder for a backup. */
export function localBackupPlace(folder: string): BackupPlace {
  const storage = localStorage(folder);
  return {
    name: folder,
    prepare: () => makeEmpty(folder),
    write: async (path, content) => {
      await storage.put(path, content).catch((error: unknown) => refuseFull(folder, error));
    },
    read: async (path) => ((await storage.has(path)) ? storage.get(path) : undefined),
  };
}

const notWritable = (folder: string, user: string): string =>
  `The user ${user} cannot write to ${folder}. Name a folder that this user may write, or create it for this user as an administrator:\n  sudo install -d -o ${user} -m 700 '${folder}'`;

/** @throws Error with the remedy for a full disk, else the original error */
function refuseFull(folder: string, error: unknown): never {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (!["ENOSPC", "EDQUOT"].includes(code)) throw error;
  throw new Error(
    `The disk of ${folder} is full (${code}), and the backup in it is incomplete. Delete this folder, then free space or name a folder on another disk.`,
    { cause: error },
  );
}

async function makeEmpty(folder: string): Promise<void> {
  try {
    makeFolder(folder, 0o700);
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
}
