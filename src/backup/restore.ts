import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Knex } from "knex";
import { newId } from "../platform/database/ids";
import { load } from "../platform/database/load";
import { migrateTo, unknownMigrations, whileOthersWait } from "../platform/database/migrate";
import { up as makeHolds } from "../platform/database/migrations/019-holds";
import type { Shape } from "../platform/database/snapshot";
import { prepareVectors } from "../platform/database/vectors";
import { installJobs } from "../platform/jobs/install";
import type { Storage } from "../platform/ports/storage";
import { clear, emptyDatabase } from "./empty";
import { KEYS_FILE } from "./write-backup";
import { readManifest, verifyPart, type Manifest, type StoredFile } from "./manifest";

/** A backup with its verified manifest. */
export interface Backup {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Reads a backup's manifest. @throws Error if the backup comes from a newer version */
export async function openBackup(folder: string): Promise<Backup> {
  const manifest = await readManifest(folder);
  const unknown = unknownMigrations(manifest.migrations);
  if (unknown.length > 0)
    throw new Error(
      `The backup in ${folder} was written by a newer version of Parley (${manifest.version}) with the migrations ${unknown.join(", ")}. Restore it with that version or a later one.`,
    );
  return { folder, manifest };
}

/** @throws Error if any part is missing or was changed */
export async function verifyBackup({ folder, manifest }: Backup): Promise<void> {
  for (const part of [...manifest.tables, manifest.jobs, manifest.files]) await verifyPart(folder, part);
  for await (const file of storedFiles({ folder, manifest })) await verifyPart(folder, file);
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
  const { folder, manifest } = backup;
  const unpacked = (path: string): Readable =>
    pipeline(createReadStream(join(folder, path)), createGunzip(), () => undefined); // `load` gets the error from the stream
  const paths = new Map(manifest.tables.map(({ name, path }) => [name, path]));
  const source = {
    shape: manifest,
    read: ({ name }: { name: string }) => unpacked(paths.get(name)!),
    readJobs: () => unpacked(manifest.jobs.path),
  };
  const put: string[] = [];
  const undo = async () => {
    for (const key of put) await storage.remove(key);
  };
  const note = `a backup of ${manifest.at}`;
  return fill(url, source, { note, undo }, async () => {
    for await (const { key, path } of storedFiles(backup)) {
      put.push(key);
      await storage.put(key, createReadStream(join(folder, path)));
    }
    await finish();
  });
}

interface FillOptions {
  /** Description of the source; undefined for a copy that is not held. */
  readonly note: string | undefined;
  readonly undo: () => Promise<void>;
}

/** Creates the tables at the source's migration, loads the rows, and marks the copy as finished after `finish`. */
export async function fill(
  url: string,
  source: { readonly shape: Shape } & Parameters<typeof load>[1],
  { note, undo }: FillOptions,
  finish: () => Promise<unknown>,
): Promise<string[]> {
  let skipped: string[] = [];
  let holdId: string | undefined;
  const insertHold = async (db: Knex) => {
    await makeHolds(db);
    const id = newId();
    await db("holds").insert({ id, reason: "RESTORED", note: note ?? "another database" });
    return id;
  };
  try {
    await whileOthersWait(url, async (db) => {
      await emptyDatabase(db);
      holdId = await insertHold(db);
      await migrateTo(db, source.shape.migrations);
      await installJobs(url);
      await prepareVectors(db);
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
    if (holdId !== undefined) {
      await undo();
      await whileOthersWait(url, clear);
    }
    throw error;
  }
  return skipped;
}

async function* storedFiles({ folder, manifest }: Backup): AsyncGenerator<StoredFile> {
  const lines = createInterface({ input: createReadStream(join(folder, manifest.files.path)) });
  for await (const line of lines) yield JSON.parse(line) as StoredFile; // verified by its digest
}

const keysFile = (folder: string): string => join(folder, KEYS_FILE);

/** Path of the encryption keys that a backup includes; undefined if it includes none. */
export const includedKeysFile = async (folder: string): Promise<string | undefined> =>
  (await includedKeys(folder)) && keysFile(folder);

/** The encryption keys that a backup includes; undefined if it includes none. */
export const includedKeys = (folder: string): Promise<string[] | undefined> =>
  readFile(keysFile(folder), "utf8").then(
    (text) => text.split(",").map((key) => key.trim()),
    () => undefined,
  );
