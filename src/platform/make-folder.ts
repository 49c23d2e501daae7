import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a folder and those above it, one by one: Node's recursive `mkdir` never ends where the kernel refuses every
 * folder, as below `/proc`.
 * @returns the first folder that was created; undefined if it existed
 * @throws the error of the system, whose `path` is the first folder that cannot be created; EEXIST if that is a file
 */
export function makeFolder(folder: string, mode?: number): string | undefined {
  if (isFolder(folder)) return undefined;
  const above = dirname(folder);
  const first = above === folder ? undefined : makeFolder(above, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (!isFolder(folder)) throw error; // another process may have made it meanwhile
  }
  return first ?? folder;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // anything else is for `mkdir` to report
  }
}
