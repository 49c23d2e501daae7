import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../settings/config";
import { thisUser } from "../../settings/this-user";
import { connect } from "./connect";
import { describeDatabase } from "./database-name";
import { hasEmbedded, runningEmbedded, startEmbedded } from "../embedded/embedded";
import { makeDataDir } from "../embedded/place";
import { refuseUnfinished } from "./holds";
import { openClient } from "./open-client";
import { refuseMoved } from "./refuse-moved";
import { mistake } from "../../mistake";

/** An open database: its URLs, and a function that releases it. */
export interface OpenDatabase {
  /** URL for the serving role. */
  readonly url: string;
  /** URL for the role that owns and migrates the tables. */
  readonly ownerUrl: string;
  /** URL for the role that runs jobs. */
  readonly jobsUrl: string;
  readonly stop: () => Promise<void>;
}

const nothing = () => Promise.resolve();

/** The embedded database has one role. */
const forAll = (url: string) => ({ url, ownerUrl: url, jobsUrl: url });

/** Opens the database for a server: that of DATABASE_URL, or the embedded one, which is started. */
export async function serverDatabase(
  { DATABASE_URL: url, DATABASE_OWNER_URL, DATABASE_JOBS_URL, ...config }: Config,
  log: (line: string) => void,
): Promise<OpenDatabase> {
  const { DATABASE_DIRECT_URL: direct = url, DATA_DIR: dataDir } = config;
  if (url !== undefined && direct !== undefined)
    return {
      url,
      ownerUrl: DATABASE_OWNER_URL ?? direct,
      jobsUrl: DATABASE_JOBS_URL ?? direct,
      stop: nothing,
    };
  const embedded = await startEmbedded({ dataDir, log });
  return { ...forAll(embedded.url), stop: () => embedded.stop() };
}

/**
 * Opens the database for a command: that of a running server, or an embedded one that is started for the command.
 * @throws Error if there is no database yet, because the keys from its first start would never be shown, or if the
 * database was moved elsewhere
 */
export async function commandDatabase(
  config: Config,
  log: (line: string) => void,
  acceptsMoved = false,
): Promise<OpenDatabase> {
  log(`Database: ${describeDatabase(config)}`);
  if (config.embedded && !(await hasEmbedded(config.DATA_DIR))) throw new Error(noDatabase(config));
  const running = config.embedded ? await runningEmbedded(config.DATA_DIR) : undefined;
  const database =
    running === undefined ? await serverDatabase(config, log) : { ...forAll(running), stop: nothing };
  if (acceptsMoved) return database;
  await refuseMoved(database.ownerUrl, config).catch(async (error: unknown) => {
    await database.stop();
    throw error;
  });
  return database;
}

const noDatabase = ({ DATA_DIR: dataDir }: Config): string =>
  [
    `DATA_DIR ${dataDir} has no database yet, and DATABASE_URL is not set.`,
    "  - If a server runs: run the command with the server's environment, and as its user. See docs/operations.md.",
    "  - Otherwise run `npm start` first.",
  ].join("\n");

/** Opens the database for a restore: that of DATABASE_URL, or an embedded one without a running server. */
export async function restoreDatabase(config: Config, log: (line: string) => void): Promise<OpenDatabase> {
  log(`Database: ${describeDatabase(config)}`);
  if (config.embedded && (await runningEmbedded(config.DATA_DIR)) !== undefined)
    throw new Error(`A server is running on DATA_DIR ${config.DATA_DIR}: restore into an empty folder.`);
  return serverDatabase(config, log);
}

/**
 * The settings with ENCRYPTION_KEYS; with the embedded database they are generated once and stored beside it.
 * @param url URL of the open database for the role that owns the tables
 * @throws Error if the file with the keys is missing, although the database has secrets that were encrypted with them
 */
export async function withEncryptionKeys(config: Config, url: string): Promise<Config> {
  const { ENCRYPTION_KEYS, DATA_DIR } = config;
  if (ENCRYPTION_KEYS !== undefined) return config;
  if ((await keptEncryptionKeys(DATA_DIR)) === undefined) {
    if (await hasSecrets(url)) {
      await refuseRemains(url);
      throw mistake(new Error(keysMissing(DATA_DIR)));
    }
    await makeDataDir(DATA_DIR);
    await keepEncryptionKeys(DATA_DIR, [randomBytes(32).toString("base64url")]);
  }
  return { ...config, ENCRYPTION_KEYS: await keptEncryptionKeys(DATA_DIR), keysFile: keysFile(DATA_DIR) };
}

/** @throws Error if a restore into the database was interrupted, before it stored the keys */
async function refuseRemains(url: string): Promise<void> {
  const db = connect(url, { pool: 1 });
  try {
    if (await db.schema.hasTable("holds")) await refuseUnfinished(db);
  } finally {
    await db.destroy();
  }
}

/** Whether a database has an organization, and so its keys: both are created in one transaction. */
async function hasSecrets(url: string): Promise<boolean> {
  const client = await openClient(url, "parley keys");
  try {
    const { rowCount } = await client.query("select where to_regclass('organizations') is not null");
    return rowCount !== 0 && (await client.query("select from organizations limit 1")).rowCount !== 0;
  } finally {
    await client.end();
  }
}

/** The file with the keys, beside the embedded database. */
export const keysFile = (dataDir: string) => join(dataDir, "encryption-keys");

const keysMissing = (dataDir: string): string =>
  `The file ${keysFile(dataDir)} is missing: restore it from your copy, or set ENCRYPTION_KEYS if you did before. The secrets in the database are encrypted with the keys in it. If there is no copy, see "If the keys are lost" in docs/backup.md.`;

/** The keys stored beside the embedded database; undefined if there are none. */
export const keptEncryptionKeys = (dataDir: string): Promise<string[] | undefined> =>
  readFile(keysFile(dataDir), "utf8").then(
    (text) => text.split(",").map((key) => key.trim()),
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw mistake(new Error(keysUnreadable(dataDir, error), { cause: error }));
    },
  );

const keysUnreadable = (dataDir: string, { code, message }: NodeJS.ErrnoException): string =>
  `The file ${keysFile(dataDir)} cannot be read by the user ${thisUser()} (${code ?? message}). Let this user read and write it, and nobody else: chmod 600 '${keysFile(dataDir)}'`;

/**
 * Stores keys unless there are some. The flag "wx" ensures that of two processes starting at once, one writes and
 * both read the same keys.
 */
export async function keepEncryptionKeys(dataDir: string, keys: readonly string[]): Promise<void> {
  await writeFile(keysFile(dataDir), keys.join(","), { flag: "wx", mode: 0o600 }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    },
  );
}

/** Adds a new key before the stored ones. @returns the path of the key file */
export async function addEncryptionKey(dataDir: string): Promise<string> {
  const kept = await keptEncryptionKeys(dataDir);
  if (kept === undefined)
    throw mistake(
      new Error(
        (await hasEmbedded(dataDir))
          ? keysMissing(dataDir)
          : `DATA_DIR ${dataDir} has no encryption keys yet. Start the server once first.`,
      ),
    );
  const file = keysFile(dataDir);
  const keys = [randomBytes(32).toString("base64url"), ...kept];
  await writeFile(`${file}.new`, keys.join(","), { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
  return file;
}
