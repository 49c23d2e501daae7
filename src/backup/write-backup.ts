import { Readable } from "node:stream";
import type { Crypto } from "../platform/crypto";
import { openSnapshot, type Snapshot } from "../platform/database/copies/snapshot";
import type { BackupPlace } from "../platform/ports/backup-place";
import { contentKey } from "../assistants/files/content-key";
import { markerOf } from "../assistants/files/file-store";
import type { Storage } from "../platform/ports/storage";
import type { BackupKey } from "./backup-key";
import { encryptionOf, KEY_PATH } from "./encryption";
import { explanation } from "./explanation";
import { factsOf } from "./facts";
import { FORMAT, writeManifest, type Manifest, type StoredFile } from "./manifest";
import { NewParts } from "./parts";
import { undonePlace } from "./undone-place";

export interface BackupOptions {
  /** Database URL of the tables' owner. */
  readonly url: string;
  readonly storage: Storage;
  readonly crypto: Crypto;
  /** A place that is empty. */
  readonly place: BackupPlace;
  /** Encrypts the backup, if given. */
  readonly key?: BackupKey;
  /** Version of this program. */
  readonly version: string;
  /** Keys to include in the backup, if any: anyone with the backup can then decrypt all secrets in it. */
  readonly encryptionKeys?: readonly string[];
  /** Ends the backup, which then fails with its reason. */
  readonly signal?: AbortSignal;
  /** Told of each file whose stored content has another size than was uploaded. The backup has it as it is. */
  readonly warn: (message: string) => void;
}

/**
 * Tables that are not backed up: a restored copy has its own file storage and its own replica, and a backup would keep
 * exports of personal data beyond the day after which they expire.
 */
const EXCLUDED_TABLES = ["file_store", "end_user_exports", "write_positions"];

const FILES = "files.ndjson";
export const KEYS_FILE = "encryption-keys";

/** Writes a consistent backup of an installation while it runs. One that fails leaves nothing in a folder. */
export async function writeBackup(options: BackupOptions): Promise<Manifest> {
  const place = undonePlace(options.place, options.signal);
  return writeParts({ ...options, place }).catch(async (error: unknown) => {
    const remains = ({ message }: Error) =>
      options.warn(`The incomplete backup in ${place.name} could not be deleted: ${message}`);
    await place.undo(error).catch(remains);
    throw error;
  });
}

async function writeParts(options: BackupOptions): Promise<Manifest> {
  const { crypto, version, url, encryptionKeys } = options;
  const snapshot = await openSnapshot(url);
  try {
    await checkStore(snapshot, options.storage);
    const { migrations, sequences, at } = snapshot.shape;
    const parts = await newParts(options, at);
    const shapes = snapshot.shape.tables.filter(({ name }) => !EXCLUDED_TABLES.includes(name));
    const tables = [];
    for (const table of shapes)
      tables.push({
        ...table,
        ...(await parts.write(`tables/${table.name}.copy.gz`, snapshot.read(table), true)),
      });
    const jobs = await parts.write("jobs.copy.gz", snapshot.readJobs(), true);
    const facts = await factsOf(snapshot);
    // The storage deletes nothing while the snapshot is open; see backupRuns.
    const { files, missingFiles } = await writeFiles(snapshot, options, parts);
    if (encryptionKeys) await parts.write(KEYS_FILE, Readable.from([Buffer.from(encryptionKeys.join(","))]));
    await snapshot.check();
    const keys = crypto.checkValues();
    const content = { tables, jobs, files, missingFiles, facts };
    const manifest = { format: FORMAT, version, at, migrations, sequences, keys, ...content };
    await writeManifest(parts, manifest);
    return manifest;
  } finally {
    await snapshot.close();
  }
}

/** @throws Error if there are files, and the storage is another than that of the installation: all would be missing */
async function checkStore(snapshot: Snapshot, storage: Storage): Promise<void> {
  const [store] = await snapshot.rows<{ id: string }>(
    "select id from public.file_store where exists (select 1 from public.files)", // Citus refuses a row without columns
  );
  if (store !== undefined && !(await storage.has(markerOf(store.id))))
    throw new Error(
      "DATA_DIR or S3_BUCKET does not lead to the files of this installation, so the backup would lack them. Run the command with the settings of the server. If the files were moved or lost, run `npm run files:adopt` first.",
    );
}

/** Begins the backup with an explanation for people who find it, and the backup's own key, if it has one. */
async function newParts({ place, key, version }: BackupOptions, at: string): Promise<NewParts> {
  const { encrypt, ownKey } = key === undefined ? {} : await encryptionOf(key);
  await place.prepare();
  const text = explanation({ version, at }, encrypt !== undefined, ownKey !== undefined);
  await place.write("README.txt", Readable.from([Buffer.from(text)]));
  if (ownKey) await place.write(KEY_PATH, Readable.from([ownKey]));
  return new NewParts(place, encrypt);
}

/** Copies every file with a record in the snapshot, and writes their list. */
async function writeFiles(
  snapshot: Snapshot,
  { storage, warn }: BackupOptions,
  parts: NewParts,
): Promise<Pick<Manifest, "files" | "missingFiles">> {
  const missingFiles: string[] = [];
  let count = 0;
  const copy = async ({ organizationId, id, size }: StoredRecord): Promise<string> => {
    const key = contentKey(organizationId, id);
    const content = await storage.get(key).catch(async (error: unknown) => {
      if (await storage.has(key)) throw error;
    });
    if (content === undefined) {
      missingFiles.push(key);
      return "";
    }
    let bytes = 0;
    const counted = async function* () {
      for await (const chunk of content as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        yield chunk;
      }
    };
    const stored = await parts.write(`files/${key}`, Readable.from(counted(), { objectMode: false }));
    const file: StoredFile = { key, ...stored };
    if (bytes !== size)
      warn(`Damaged in the file storage, and so in the backup: ${key} has ${bytes} bytes instead of ${size}`);
    count++;
    return `${JSON.stringify(file)}\n`;
  };
  const rows = await snapshot.rows<StoredRecord>(STORED);
  const list = await parts.write(FILES, Readable.from(inOrder(rows, copy), { objectMode: false }));
  return { files: { ...list, count }, missingFiles };
}

/** Files that are copied at once, because a store takes longer to answer than to transfer a small file. */
export const FILES_AT_ONCE = 4;

async function* inOrder<T>(items: readonly T[], work: (item: T) => Promise<string>): AsyncGenerator<string> {
  for (let at = 0; at < items.length; at += FILES_AT_ONCE)
    yield (await Promise.all(items.slice(at, at + FILES_AT_ONCE).map(work))).join("");
}

interface StoredRecord {
  readonly organizationId: string;
  readonly id: string;
  readonly size: number;
}

/** All files. */
const STORED =
  'select organization_id as "organizationId", id, size::float8 as size from public.files order by organization_id, id';
