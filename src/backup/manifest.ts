import { hash } from "node:crypto";
import { Readable } from "node:stream";
import type { Shape, TableShape } from "../platform/database/copies/snapshot";
import type { BackupPlace } from "../platform/ports/backup-place";
import type { BackupKey } from "./backup-key";
import { decryptionOf, ENCRYPTED, OTHER_KEY } from "./encryption";
import type { KeyCheck } from "./key-check";
import { exists, StoredParts, type NewParts, type Part } from "./parts";

/** Version of the format; increased when older programs cannot read it. */
export const FORMAT = 1;
const MANIFEST = "manifest.json";

/** The contents of a backup. The manifest is written last: without it, a backup is not complete. */
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

const digestOf = (manifest: object): string => hash("sha256", JSON.stringify(manifest), "hex");

/** Writes the manifest, after all other parts. */
export async function writeManifest(parts: NewParts, manifest: Manifest): Promise<void> {
  const text = JSON.stringify({ ...manifest, sha256: digestOf(manifest) }, undefined, 2);
  await parts.write(MANIFEST, Readable.from([Buffer.from(`${text}\n`)]));
}

/** Opens the parts of a backup, which are encrypted if its manifest is. @throws Error if the backup is incomplete */
export async function openParts(place: BackupPlace, key: BackupKey | undefined): Promise<StoredParts> {
  if (await exists(place, MANIFEST + ENCRYPTED))
    return new StoredParts(place, await decryptionOf(key, place));
  if (await exists(place, MANIFEST)) return new StoredParts(place);
  throw new Error(
    `${place.name} is not a complete backup: ${MANIFEST} is missing. Name a place where \`npm run backup\` has finished.`,
  );
}

/** @throws Error if the manifest was changed, or comes from a newer version */
export async function readManifest(parts: StoredParts): Promise<Manifest> {
  const { name } = parts.place;
  const damaged = parts.damaged(`${MANIFEST} was changed`);
  let read: Manifest & { sha256?: unknown };
  try {
    read = JSON.parse(await parts.text(MANIFEST)) as typeof read; // its digest is checked below
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === OTHER_KEY) throw cause;
    throw Object.assign(damaged, { cause });
  }
  if (typeof read !== "object" || read === null) throw damaged;
  const { sha256, ...manifest } = read;
  if (typeof manifest.format === "number" && manifest.format > FORMAT)
    throw new Error(
      `The backup in ${name} was written by a newer version of Parley (${manifest.version}). Restore it with that version or a later one.`,
    );
  if (sha256 !== digestOf(manifest)) throw damaged;
  return manifest;
}
