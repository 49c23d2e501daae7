import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Shape, TableShape } from "../platform/database/snapshot";
import type { KeyCheck } from "./key-check";

/** Raised when an older program could not read what is written. */
export const FORMAT = 1;
const NAME = "manifest.json";

/** A file of the backup, by its path in it. */
export interface Part {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** What a backup consists of. It is written last: a folder without it is no whole backup. */
export interface Manifest extends Omit<Shape, "tables"> {
  readonly format: number;
  /** The program that wrote it. */
  readonly version: string;
  readonly keys: KeyCheck;
  readonly tables: readonly (TableShape & Part)[];
  readonly jobs: Part;
  /** The list of stored files, a `StoredFile` on each line. */
  readonly files: Part & { readonly count: number };
  /** Records of files whose content the storage lacked. */
  readonly missingFiles: readonly string[];
  /** Facts about the snapshot that can be checked later, by name; see `FACTS`. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** A stored file: its key in the storage, and its copy. */
export interface StoredFile extends Part {
  readonly key: string;
}

/** Counts bytes and digests them on their way. */
export class Digest extends Transform {
  bytes = 0;
  private readonly hash = createHash("sha256");

  override _transform(chunk: Buffer, _: BufferEncoding, done: (error: null, chunk: Buffer) => void): void {
    this.bytes += chunk.length;
    this.hash.update(chunk);
    done(null, chunk);
  }

  /** Once all has passed. */
  of(path: string): Part {
    return { path, bytes: this.bytes, sha256: this.hash.digest("hex") };
  }
}

const digestOf = (manifest: object): string =>
  createHash("sha256").update(JSON.stringify(manifest)).digest("hex");

/** Under another name first: a manifest is there whole or not at all. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const text = JSON.stringify({ ...manifest, sha256: digestOf(manifest) }, undefined, 2);
  const partial = join(folder, `${NAME}.partial`);
  await writeFile(partial, `${text}\n`, { mode: 0o600, flush: true });
  await rename(partial, join(folder, NAME));
}

/** @throws Error when it is missing, was changed, or comes from a newer program */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, NAME), "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === "ENOENT"
        ? `${folder} is not a complete backup: ${NAME} is missing.`
        : `${join(folder, NAME)} cannot be read: ${error.message}`,
    );
  });
  const damaged = new Error(`The backup in ${folder} is damaged: ${NAME} was changed.`);
  let read: Manifest & { sha256?: unknown };
  try {
    read = JSON.parse(text) as typeof read; // its digest shows whether it is what we wrote
  } catch {
    throw damaged;
  }
  if (typeof read !== "object" || read === null) throw damaged;
  const { sha256, ...manifest } = read;
  if (typeof manifest.format === "number" && manifest.format > FORMAT)
    throw new Error(
      `The backup in ${folder} was written by a newer version of Parley (${manifest.version}). Restore it with that version or a later one.`,
    );
  if (sha256 !== digestOf(manifest)) throw damaged;
  return manifest;
}

/** @throws Error when a part is missing or was changed */
export async function verifyPart(folder: string, { path, bytes, sha256 }: Part): Promise<void> {
  const digest = new Digest();
  digest.resume();
  await pipeline(createReadStream(join(folder, path)), digest).catch((error: unknown) => {
    throw new Error(
      `The backup in ${folder} is damaged: ${path} cannot be read: ${(error as Error).message}`,
    );
  });
  const found = digest.of(path);
  if (found.bytes !== bytes || found.sha256 !== sha256)
    throw new Error(`The backup in ${folder} is damaged: ${path} was changed.`);
}
