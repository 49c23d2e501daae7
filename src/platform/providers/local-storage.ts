import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { Readable } from "node:stream";
import type { Storage } from "../ports/storage";

/** A file that is being written has a name of its own, also while others write one with the same key. */
const partialOf = (path: string): string => `${path}.${randomUUID()}.partial`;
const PARTIAL = /(\.[\da-f-]{36})?\.partial$/;

/** The key of a file, from that in the list, also while it is being written. */
export const finalKey = (listed: string): string => listed.replace(PARTIAL, "");

/** Stores files in a folder. Each is written to a temporary file, synced and renamed, so it exists completely or not at all. */
export function localStorage(folder: string): Storage {
  const path = (key: string) =>
    join(folder, ...key.split("/").map((part) => part.replace(/[^\w.-]/g, "").replace(/^\.+/, "")));
  return {
    async put(key, content) {
      await mkdir(dirname(path(key)), { recursive: true, mode: 0o700 });
      const partial = partialOf(path(key));
      try {
        const size = await write(partial, content);
        await rename(partial, path(key));
        await syncFolder(dirname(path(key)));
        return size;
      } catch (error) {
        await rm(partial, { force: true });
        throw error;
      }
    },
    async get(key) {
      await stat(path(key));
      return createReadStream(path(key));
    },
    has: (key) =>
      stat(path(key)).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === "ENOENT") return false;
          throw error;
        },
      ),
    remove: (key) => rm(path(key), { force: true }),
    async *list() {
      for (const name of await readdir(folder, { recursive: true }).catch(() => [])) {
        const found = await stat(join(folder, name)).catch(() => undefined);
        if (found?.isFile()) yield { key: name.split(sep).join("/"), storedAt: found.mtime };
      }
    },
  };
}

async function write(path: string, content: Readable): Promise<number> {
  const file = await open(path, "w", 0o600);
  try {
    await writeFile(file, content);
    await file.sync();
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}
