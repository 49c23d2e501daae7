import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Creates a folder and those above it. Where the kernel refuses every folder, as below `/proc`, Node's recursive `mkdir`
 * never ends; here the first one fails.
 * @returns the first folder that was created; undefined if it existed
 */
export async function makeFolder(folder: string, mode?: number): Promise<string | undefined> {
  const first = await firstMissing(folder);
  if (first !== undefined) await mkdir(first, { mode }).catch(unlessMadeMeanwhile);
  await mkdir(folder, { recursive: true, mode });
  return first;
}

async function firstMissing(folder: string): Promise<string | undefined> {
  if (await exists(folder)) return undefined;
  return (await firstMissing(dirname(folder))) ?? folder;
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT", // anything else is for `mkdir` to report
  );

function unlessMadeMeanwhile(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
