import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it. `mkdirSync` with `recursive` never returns where the system refuses a folder as if the
 * one above it did not exist, as in `/proc`.
 * @throws Error that names the path
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (dirname(path) !== path) makeFolder(dirname(path), mode);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found) throw new Error(`${path} is a file, not a folder.`);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    throw new Error(`The folder ${path} cannot be created: ${(error as Error).message}.`, { cause: error });
  }
}
