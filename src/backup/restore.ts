import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Knex } from "knex";
import { announceRestore } from "../platform/database/copies/backup-lock";
import { newId } from "../platform/database/values/ids";
import { databaseProblem, explanationOf } from "../platform/database/connections/database-problem";
import { MOVE_NOTE } from "../platform/database/connections/holds";
import { load } from "../platform/database/copies/load";
import { migrateTo, unknownMigrations, whileOthersWait } from "../platform/database/upgrades/migrate";
import { up as makeHolds } from "../platform/database/migrations/019-holds";
import type { Shape } from "../platform/database/copies/snapshot";
import { prepareVectors } from "../platform/database/upgrades/vectors";
import { installJobs } from "../platform/jobs/install";
import type { BackupPlace } from "../platform/ports/backup-place";
import { finalKey } from "../platform/providers/local-storage";
import type { Storage } from "../platform/ports/storage";
import type { BackupKey } from "./backup-key";
import { clear, emptyDatabase } from "./empty";
import { openParts, readManifest, type Manifest, type StoredFile } from "./manifest";
import type { Part, StoredParts } from "./parts";
import { FILES_AT_ONCE, KEYS_FILE } from "./write-backup";

/** A backup with its verified manifest. */
export interface Backup {
  readonly parts: StoredParts;
  readonly manifest: Manifest;
}

/**
 * Reads a backup's manifest.
 * @param key decrypts the backup; not used if it is not encrypted
 * @throws Error if the backup is incomplete, needs another key or comes from a newer version
 */
export async function openBackup(place: BackupPlace, key: BackupKey | undefined): Promise<Backup> {
  const parts = await openParts(place, key);
  const manifest = await readManifest(parts);
  const unknown = unknownMigrations(manifest.migrations);
  if (unknown.length > 0)
    throw new Error(
      `The backup in ${place.name} was written by a newer version of Parley (${manifest.version}) with the migrations ${unknown.join(", ")}. Restore it with that version or a later one.`,
    );
  return { parts, manifest };
}

/** @throws Error if any part is missing or was changed */
export async function verifyBackup(backup: Backup): Promise<void> {
  const { parts, manifest } = backup;
  for (const part of [...manifest.tables, manifest.jobs, manifest.files]) await parts.verify(part);
  for await (const files of storedFiles(backup)) await Promise.all(files.map((file) => parts.verify(file)));
}

/**
 * Loads a backup into an empty database and storage. The copy starts held. If loading fails, the database is empty
 * again.
 * @param finish migrates the loaded database to this program's version
 * @returns tables that this database cannot store
 */
export async function restoreBackup(
  backup: Backup,
  url: string,
  storage: Storage,
  finish: () => Promise<unknown>,
): Promise<string[]> {
  const { parts, manifest } = backup;
  const unpacked = (part: Part): Readable => pipeline(parts.read(part), createGunzip(), () => undefined); // `load` gets the error from the stream
  const tables = new Map(manifest.tables.map((table) => [table.name, table]));
  const source = {
    shape: manifest,
    read: ({ name }: { name: string }) => unpacked(tables.get(name)!),
    readJobs: () => unpacked(manifest.jobs),
  };
  const put: string[] = [];
  const undo = async () => {
    for (const key of put) await storage.remove(key);
  };
  const note = `a backup of ${manifest.at}`;
  return fill(url, source, { note, undo }, async () => {
    for await (const files of storedFiles(backup)) {
      put.push(...files.map(({ key }) => key));
      await Promise.all(files.map((file) => storage.put(file.key, parts.read(file))));
    }
    await finish();
  });
}

interface FillOptions {
  /** Description of the source; undefined for a copy that is not held. */
  readonly note: string | undefined;
  readonly undo: () => Promise<void>;
}

type Source = { readonly shape: Shape } & Parameters<typeof load>[1];

/** Creates the tables at the source's migration, loads the rows, and marks the copy as finished after `finish`. */
export async function fill(
  url: string,
  source: Source,
  options: FillOptions,
  finish: () => Promise<unknown>,
): Promise<string[]> {
  const end = await announceRestore(url);
  return fillAlone(url, source, options, finish).finally(end);
}

async function fillAlone(
  url: string,
  source: Source,
  { note, undo }: FillOptions,
  finish: () => Promise<unknown>,
): Promise<string[]> {
  let skipped: string[] = [];
  let holdId: string | undefined;
  const insertHold = async (db: Knex) => {
    await makeHolds(db);
    const id = newId();
    await db("holds").insert({ id, reason: "RESTORED", note: note ?? MOVE_NOTE });
    return id;
  };
  try {
    await whileOthersWait(url, async (db, patiently) => {
      await emptyDatabase(db);
      holdId = await db.transaction(insertHold); // without its row, the table would look like one of somebody else
      await migrateTo(db, source.shape.migrations);
      await patiently("graphile-worker", (waiting) => installJobs(url, waiting));
      await patiently("passage_embeddings", (waiting) => prepareVectors(db, waiting));
      skipped = await load(url, source);
    });
    await finish();
    await whileOthersWait(url, async (db) => {
      const released = note === undefined ? { releasedAt: db.fn.now() } : {};
      await db("holds")
        .where({ id: holdId })
        .update({ finishedAt: db.fn.now(), ...released });
    });
  } catch (error) {
    if (holdId !== undefined) await removeRemains(url, undo, error);
    throw error;
  }
  return skipped;
}

/** Empties the database after a failure. @throws Error about the failure that says so if this fails, too */
async function removeRemains(url: string, undo: () => Promise<void>, failure: unknown): Promise<void> {
  try {
    await undo();
    await whileOthersWait(url, clear);
  } catch {
    const { message } = databaseProblem(failure) ?? (failure as Error);
    throw explanationOf(
      `${message}\nThe database contains a part of the rows, which could not be removed. Run the command again: it clears the database first.`,
      failure,
    );
  }
}

/** The list of files, several at a time. */
async function* storedFiles({ parts, manifest }: Backup): AsyncGenerator<StoredFile[]> {
  const lines = createInterface({ input: parts.read(manifest.files) });
  let files: StoredFile[] = [];
  for await (const line of lines) {
    files.push(JSON.parse(line) as StoredFile); // verified by its digest
    if (files.length < FILES_AT_ONCE) continue;
    yield files;
    files = [];
  }
  yield files;
}

/** Whether a storage has only files of a backup, some of them perhaps cut off. */
export async function hasOnlyFilesOf(backup: Backup, storage: Storage): Promise<boolean> {
  const keys = new Set<string>();
  for await (const files of storedFiles(backup)) for (const { key } of files) keys.add(key);
  for await (const { key } of storage.list()) if (!keys.has(finalKey(key))) return false;
  return true;
}

/** Name of the encryption keys that a backup includes; undefined if it includes none. */
export const includedKeysFile = async ({ parts }: Backup): Promise<string | undefined> =>
  (await parts.has(KEYS_FILE)) ? `${parts.place.name}/${parts.storedPath(KEYS_FILE)}` : undefined;

/** The encryption keys that a backup includes; undefined if it includes none. */
export async function includedKeys({ parts }: Backup): Promise<string[] | undefined> {
  if (!(await parts.has(KEYS_FILE))) return undefined;
  return (await parts.text(KEYS_FILE)).split(",").map((key) => key.trim());
}
