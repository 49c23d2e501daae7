import { existsSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, sep, win32 } from "node:path";
import { shortName } from "../../assistants/files/describe";
import { makeOutputFolder } from "../folder/output-folder";

/** Longest name of a draft without its end, in bytes: file systems allow 255. */
const MAX_DRAFT_BYTES = 250;

/** Whether a path leads into a folder. Both are free of symbolic links. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`);
}

/** Whether a path is absolute on any system: the same files are used on all. */
export const isAbsolutePath = (path: string): boolean => win32.isAbsolute(path);

/**
 * Writes a file unless it has this content. An interrupted write leaves the former content.
 * @returns whether it was written
 * @throws Error if it is outside the folder, where a file of the repository must not write
 */
export function writeChanged(folder: string, path: string, content: string | Uint8Array): boolean {
  const bytes = Buffer.from(content as Uint8Array);
  makeOutputFolder(folder);
  if (!isInside(folder, path)) throw new Error(`${path} is outside the folder ${folder}.`);
  makeOutputFolder(dirname(path));
  if (!isInside(realpathSync(folder), realpathSync(dirname(path))))
    throw new Error(`${path} is outside the folder ${folder}.`);
  if (contentOf(path)?.equals(bytes)) return false;
  const place = placeOf(folder, path);
  const draft = join(dirname(place), `${shortName(basename(place), MAX_DRAFT_BYTES)}.new`);
  try {
    rmSync(draft, { force: true }); // could be a link
    writeFileSync(draft, bytes, { flag: "wx" });
    renameSync(draft, place);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(`${path} cannot be written (${code}).`, {
      cause: error,
    });
  }
  return true;
}

/** The file to write: that of a link, unless it leads out of the folder. */
function placeOf(folder: string, path: string): string {
  const target = existsSync(path) ? realpathSync(path) : path;
  return isInside(realpathSync(folder), target) ? target : path;
}

/** The content of a file; undefined if there is none. */
export function contentOf(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes((error as NodeJS.ErrnoException).code ?? ""))
      return undefined;
    throw error;
  }
}
