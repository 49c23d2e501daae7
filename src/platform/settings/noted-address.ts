import { chown, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "./config";

type Place = Pick<Config, "DATA_DIR" | "DATABASE_URL">;

const fileIn = ({ DATA_DIR }: Place) => join(DATA_DIR, "server-address");

/**
 * Notes the address of the server in DATA_DIR, for commands that run with another PORT. Only with the embedded
 * database, because it has one server.
 * @returns a function that removes the note
 */
export async function noteAddress(place: Place, url: string): Promise<() => Promise<void>> {
  if (place.DATABASE_URL !== undefined) return () => Promise.resolve();
  const file = fileIn(place);
  await writeFile(file, `${url}\n`);
  const { uid, gid } = await stat(place.DATA_DIR);
  if (process.getuid?.() === 0) await chown(file, uid, gid);
  return () => rm(file, { force: true });
}

/** The noted address of the server on this DATA_DIR; after a crash it may be out of date. */
export async function notedAddress(place: Place): Promise<string | undefined> {
  if (place.DATABASE_URL !== undefined) return undefined;
  const text = await readFile(fileIn(place), "utf8").catch(() => "");
  return URL.canParse(text.trim()) ? text.trim() : undefined;
}
