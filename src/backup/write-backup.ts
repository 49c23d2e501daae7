import { createWriteStream } from "node:fs";
import { access, constants, mkdir, open, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Crypto } from "../platform/crypto";
import { openSnapshot, type Snapshot } from "../platform/database/snapshot";
import { thisUser } from "../platform/settings/this-user";
import { makeFolder } from "../platform/make-folder";
import type { Storage } from "../platform/ports/storage";
import { factsOf } from "./facts";
import { Digest, FORMAT, writeManifest, type Manifest, type Part, type StoredFile } from "./manifest";

export interface BackupOptions {
  /** Database URL of the tables' owner. */
  readonly url: string;
  readonly storage: Storage;
  readonly crypto: Crypto;
  /** A new or empty folder. */
  readonly folder: string;
  /** Version of this program. */
  readonly version: string;
  /** Keys to include in the backup, if any: anyone with the backup can then decrypt all secrets in it. */
  readonly encryptionKeys?: readonly string[];
}

/**
 * Tables that are not backed up: a restored copy has its own file storage, and a backup would keep exports of
 * personal data beyond the day after which they expire.
 */
const EXCLUDED_TABLES = ["file_store", "end_user_exports"];

const FILES = "files.ndjson";
export const KEYS_FILE = "encryption-keys";

/** Writes a consistent backup of an installation while it runs. */
export async function writeBackup(options: BackupOptions): Promise<Manifest> {
  const { folder, crypto, version, url, encryptionKeys } = options;
  await makeEmpty(folder);
  const snapshot = await openSnapshot(url);
  try {
    const { migrations, sequences, at } = snapshot.shape;
    const shapes = snapshot.shape.tables.filter(({ name }) => !EXCLUDED_TABLES.includes(name));
    const tables = [];
    for (const table of shapes)
      tables.push({
        ...table,
        ...(await writePart(folder, `tables/${table.name}.copy.gz`, snapshot.read(table))),
      });
    const jobs = await writePart(folder, "jobs.copy.gz", snapshot.readJobs());
    const facts = await factsOf(snapshot);
    // The storage deletes nothing while the snapshot is open; see backupRuns.
    const { files, missingFiles } = await writeFiles(snapshot, options);
    if (encryptionKeys)
      await writeFile(join(folder, KEYS_FILE), encryptionKeys.join(","), { mode: 0o600, flush: true });
    const keys = crypto.checkValues();
    const content = { tables, jobs, files, missingFiles, facts };
    const manifest = { format: FORMAT, version, at, migrations, sequences, keys, ...content };
    await writeManifest(folder, manifest);
    return manifest;
  } finally {
    await snapshot.close();
  }
}

const notWritable = (folder: string, user: string): string =>
  `The user ${user} cannot write to ${folder}. Name a folder that this user may write, or create it for this user as an administrator:\n  sudo install -d -o ${user} -m 700 '${folder}'`;

async function makeEmpty(folder: string): Promise<void> {
  try {
    await makeFolder(folder, 0o700);
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

/** Copies every file with a record in the snapshot, and writes their list. */
async function writeFiles(
  snapshot: Snapshot,
  { folder, storage }: BackupOptions,
): Promise<Pick<Manifest, "files" | "missingFiles">> {
  const digest = new Digest();
  const list = pipeline(digest, createWriteStream(join(folder, FILES), { mode: 0o600, flush: true }));
  const missingFiles: string[] = [];
  let count = 0;
  for (const { key } of await snapshot.rows<{ key: string }>(STORED)) {
    const content = await storage.get(key).catch(() => undefined);
    if (content === undefined) {
      missingFiles.push(key);
      continue;
    }
    const file: StoredFile = { key, ...(await writeContent(folder, `files/${key}`, content)) };
    await accept(digest, `${JSON.stringify(file)}\n`);
    count++;
  }
  digest.end();
  await list;
  return { files: { ...digest.of(FILES), count }, missingFiles };
}

/** Storage keys of all files. */
const STORED = "select organization_id || '/' || id as key from public.files order by organization_id, id";

const accept = (stream: Writable, text: string): Promise<void> =>
  new Promise((resolve, reject) => stream.write(text, (error) => (error ? reject(error) : resolve())));

async function writePart(folder: string, path: string, content: Readable): Promise<Part> {
  return writeContent(folder, path, content, true);
}

async function writeContent(folder: string, path: string, content: Readable, pack = false): Promise<Part> {
  const target = join(folder, path);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const digest = new Digest();
  const file = createWriteStream(target, { mode: 0o600, flush: true });
  if (pack) await pipeline(content, createGzip({ level: 1 }), digest, file);
  else await pipeline(content, digest, file);
  await syncFolder(dirname(target));
  return digest.of(path);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}
