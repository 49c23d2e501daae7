import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config";
import { hasEmbedded, runningEmbedded, startEmbedded } from "./embedded";
import { makeDataDir } from "./embedded-place";

/** A PostgreSQL that answers at `url`, and how to let go of it. */
export interface OpenDatabase {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

const nothing = () => Promise.resolve();

/** The database that a server works on: the one of DATABASE_URL, or the embedded one, started for it. */
export async function serverDatabase(
  { DATABASE_URL: url, DATA_DIR: dataDir }: Config,
  log: (line: string) => void,
): Promise<OpenDatabase> {
  if (url !== undefined) return { url, stop: nothing };
  const embedded = await startEmbedded({ dataDir, log });
  return { url: embedded.url, stop: () => embedded.stop() };
}

/**
 * The same database for a command beside it: that of the running server, or started for as long as the command runs.
 * @throws Error where there is none yet: the keys that its first start makes would be shown to nobody
 */
export async function commandDatabase(config: Config, log: (line: string) => void): Promise<OpenDatabase> {
  if (config.embedded && !(await hasEmbedded(config.DATA_DIR)))
    throw new Error(
      `DATA_DIR ${config.DATA_DIR} has no database yet: run \`npm start\` first, or name the folder of the server that runs.`,
    );
  const running = config.embedded ? await runningEmbedded(config.DATA_DIR) : undefined;
  return running === undefined ? serverDatabase(config, log) : { url: running, stop: nothing };
}

/** The settings with ENCRYPTION_KEYS: with the embedded database they are made once and kept beside it. */
export async function withEncryptionKeys(config: Config): Promise<Config> {
  if (config.ENCRYPTION_KEYS !== undefined) return config;
  const file = join(config.DATA_DIR, "encryption-keys");
  await makeDataDir(config.DATA_DIR);
  // "wx": of two processes that start at once, one writes and both read.
  await writeFile(file, randomBytes(32).toString("base64url"), { flag: "wx", mode: 0o600 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    },
  );
  const keys = (await readFile(file, "utf8")).split(",").map((key) => key.trim());
  return { ...config, ENCRYPTION_KEYS: keys };
}
