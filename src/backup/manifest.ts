import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Shape, TableShape } from "../platform/database/snapshot";
import type { KeyCheck } from "./key-check";

/** Version of the format; increased when older programs cannot read it. */
export const FORMAT = 1;
const NAME = "manifest.json";

/** A file of the backup, with its path inside the backup. */
export interface Part {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The contents of a backup. The manifest is written last: a folder without it is not a complete backup. */
export interface Manifest extends Omit<Shape, "tables"> {
  readonly format: number;
  /** Version of the program that wrote the backup. */
  readonly version: string;
  readonly keys: KeyCheck;
  readonly tables: readonly (TableShape & Part)[];
  readonly jobs: Part;
  /** The list of stored files: one `StoredFile` per line, as JSON. */
  readonly files: Part & { readonly count: number };
  /** Keys of files that were missing from the storage. */
  readonly missingFiles: readonly string[];
  /** Facts about the snapshot for later checks, by name; see `FACTS`. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** A stored file: its key in the storage, and its copy in the backup. */
export interface StoredFile extends Part {
  readonly key: string;
}

/** A stream that counts and digests the bytes passing through. */
export class Digest extends Transform {
  bytes = 0;
  private readonly hash = createHash("sha256");

  override _transform(chunk: Buffer, _: BufferEncoding, done: (error: null, chunk: Buffer) => void): void {
    this.bytes += chunk.length;
    this.hash.update(chunk);
    done(null, chunk);
  }

  /** The result, after the end of the stream. */
  of(path: string): Part {
    return { path, bytes: this.bytes, sha256: this.hash.digest("hex") };
  }
}

const digestOf = (manifest: object): string =>
  createHash("sha256").update(JSON.stringify(manifest)).digest("hex");

/** Writes under a temporary name first, so that a manifest is either complete or absent. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const text = JSON.stringify({ ...manifest, sha256: digestOf(manifest) }, undefined, 2);
  const partial = join(folder, `${NAME}.partial`);
  await writeFile(partial, `${text}\n`, { mode: 0o600, flush: true });
  await rename(partial, join(folder, NAME));
}

/** @throws Error if the manifest is missing, was changed, or comes from a newer version */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, NAME), "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === "ENOENT"
        ? `${folder} is not a complete backup: ${NAME} is missing. Name a folder that \`npm run backup\` has written.`
        : `${join(folder, NAME)} cannot be read: ${error.message}`,
    );
  });
  const damaged = new Error(`The backup in ${folder} is damaged: ${NAME} was changed. Use another backup.`);
  let read: Manifest & { sha256?: unknown };
  try {
    read = JSON.parse(text) as typeof read; // its digest is checked below
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

/** @throws Error if a part is missing or was changed */
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
    throw new Error(`The backup in ${folder} is damaged: ${path} was changed. Use another backup.`);
}
