import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../settings/config";
import { hasEmbedded, runningEmbedded, startEmbedded } from "./embedded";
import { makeDataDir } from "./embedded-place";

/** A PostgreSQL that answers at `url`, and how to let go of it. */
export interface OpenDatabase {
  /** As the role that serves. */
  readonly url: string;
  /** As the role that owns the tables and migrates them. */
  readonly ownerUrl: string;
  /** As the role that takes jobs. */
  readonly jobsUrl: string;
  readonly stop: () => Promise<void>;
}

const nothing = () => Promise.resolve();

/** The embedded database has one role. */
const forAll = (url: string) => ({ url, ownerUrl: url, jobsUrl: url });

/** The database that a server works on: the one of DATABASE_URL, or the embedded one, started for it. */
export async function serverDatabase(
  { DATABASE_URL: url, DATABASE_OWNER_URL, DATABASE_JOBS_URL, DATA_DIR: dataDir }: Config,
  log: (line: string) => void,
): Promise<OpenDatabase> {
  if (url !== undefined)
    return { url, ownerUrl: DATABASE_OWNER_URL ?? url, jobsUrl: DATABASE_JOBS_URL ?? url, stop: nothing };
  const embedded = await startEmbedded({ dataDir, log });
  return { ...forAll(embedded.url), stop: () => embedded.stop() };
}

/**
 * The same database for a command beside it: that of the running server, or started for as long as the command runs.
 * @throws Error where there is none yet: the keys that its first start makes would be shown to nobody
 */
export async function commandDatabase(config: Config, log: (line: string) => void): Promise<OpenDatabase> {
  if (config.embedded && !(await hasEmbedded(config.DATA_DIR)))
    throw new Error(
      `DATA_DIR ${config.DATA_DIR} has no database yet: run \`npm start\` first, or set DATA_DIR to the folder of the running server.`,
    );
  const running = config.embedded ? await runningEmbedded(config.DATA_DIR) : undefined;
  return running === undefined ? serverDatabase(config, log) : { ...forAll(running), stop: nothing };
}

/** The database that a backup is restored into: the one of DATABASE_URL, or an embedded one that no server runs on. */
export async function restoreDatabase(config: Config, log: (line: string) => void): Promise<OpenDatabase> {
  if (config.embedded && (await runningEmbedded(config.DATA_DIR)) !== undefined)
    throw new Error(`A server is running on DATA_DIR ${config.DATA_DIR}: restore into an empty folder.`);
  return serverDatabase(config, log);
}

/** The settings with ENCRYPTION_KEYS: with the embedded database they are made once and kept beside it. */
export async function withEncryptionKeys(config: Config): Promise<Config> {
  if (config.ENCRYPTION_KEYS !== undefined) return config;
  await makeDataDir(config.DATA_DIR);
  await keepEncryptionKeys(config.DATA_DIR, [randomBytes(32).toString("base64url")]);
  return { ...config, ENCRYPTION_KEYS: await keptEncryptionKeys(config.DATA_DIR) };
}

const keysFile = (dataDir: string) => join(dataDir, "encryption-keys");

/** The keys that are kept beside the embedded database; undefined when there are none. */
export const keptEncryptionKeys = (dataDir: string): Promise<string[] | undefined> =>
  readFile(keysFile(dataDir), "utf8").then(
    (text) => text.split(",").map((key) => key.trim()),
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    },
  );

/** Keeps them unless there are some. "wx": of two processes that start at once, one writes and both read. */
export async function keepEncryptionKeys(dataDir: string, keys: readonly string[]): Promise<void> {
  await writeFile(keysFile(dataDir), keys.join(","), { flag: "wx", mode: 0o600 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    },
  );
}

/** Puts a new key before the kept ones. @returns the file that keeps them */
export async function addEncryptionKey(dataDir: string): Promise<string> {
  const kept = await keptEncryptionKeys(dataDir);
  if (kept === undefined) throw new Error(`DATA_DIR ${dataDir} has no encryption keys yet.`);
  const file = keysFile(dataDir);
  const keys = [randomBytes(32).toString("base64url"), ...kept];
  await writeFile(`${file}.new`, keys.join(","), { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
  return file;
}
