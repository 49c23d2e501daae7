import { createHash } from "node:crypto";
import { pipeline, Readable, Transform } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline as completed } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { BackupPlace } from "../platform/ports/backup-place";
import { ENCRYPTED, type Encryption } from "./encryption";

/** A stored part of a backup, with its path inside the backup. Its digest is that of the stored, encrypted bytes. */
export interface Part {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A stream that counts and digests the bytes passing through. */
class Digest extends Transform {
  bytes = 0;
  private readonly hash = createHash("sha256");

  /** @param check called at the end; its error becomes that of the stream */
  constructor(private readonly check: (digest: Digest) => Error | null = () => null) {
    super();
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: (error: null, chunk: Buffer) => void): void {
    this.bytes += chunk.length;
    this.hash.update(chunk);
    done(null, chunk);
  }

  override _flush(done: (error: Error | null) => void): void {
    done(this.check(this));
  }

  /** The result, after the end of the stream. */
  of(path: string): Part {
    return { path, bytes: this.bytes, sha256: this.hash.digest("hex") };
  }
}

/** Writes the parts of a new backup. */
export class NewParts {
  constructor(
    private readonly place: BackupPlace,
    private readonly encrypt?: Encryption,
  ) {}

  /** Writes a part, compressed if it is to be packed. */
  async write(path: string, content: Readable, pack = false): Promise<Part> {
    const packed = pack ? pipeline(content, createGzip({ level: 1 }), ignore) : content;
    const stored = this.encrypt === undefined ? packed : await this.encrypt(packed);
    const storedPath = this.encrypt === undefined ? path : path + ENCRYPTED;
    const digest = new Digest();
    const writing = this.place.write(storedPath, digest).catch((error: Error) => {
      digest.destroy(error);
      throw error;
    });
    const [read, written] = await Promise.allSettled([completed(stored, digest), writing]);
    if (read.status === "rejected" && !isCutOff(read.reason)) throw read.reason;
    if (written.status === "rejected") throw written.reason;
    return digest.of(storedPath);
  }
}

/** Reads the parts of a backup. */
export class StoredParts {
  constructor(
    readonly place: BackupPlace,
    private readonly decrypt?: Encryption,
  ) {}

  /** The content of a part. Reading it fails at the end if it was changed. */
  read(part: Part): Readable {
    return Readable.from(this.content(part), { objectMode: false });
  }

  /** Path of a part in the place. */
  storedPath = (path: string): string => (this.decrypt === undefined ? path : path + ENCRYPTED);

  has = (path: string): Promise<boolean> => exists(this.place, this.storedPath(path));

  /** The whole content of a part that has no digest. @throws Error if there is none, or if it cannot be decrypted */
  async text(path: string): Promise<string> {
    const stored = await this.place.read(this.storedPath(path));
    if (stored === undefined) throw this.damaged(`${this.storedPath(path)} is missing`);
    return text(await this.decrypted(stored));
  }

  /** @throws Error if a part is missing or was changed */
  async verify(part: Part): Promise<void> {
    for await (const _ of await this.checked(part));
  }

  private async *content(part: Part): AsyncGenerator<Buffer> {
    yield* await this.decrypted(await this.checked(part));
  }

  private async checked(part: Part): Promise<Readable> {
    const { path, bytes, sha256 } = part;
    const stored = await this.place.read(path);
    if (stored === undefined) throw this.damaged(`${path} is missing`);
    const check = new Digest((digest) => {
      const found = digest.of(path);
      return found.bytes === bytes && found.sha256 === sha256 ? null : this.damaged(`${path} was changed`);
    });
    return pipeline(stored, check, ignore);
  }

  private decrypted = async (stored: Readable): Promise<Readable> =>
    this.decrypt === undefined ? stored : this.decrypt(stored);

  damaged(what: string): Error {
    return new Error(`The backup in ${this.place.name} is damaged: ${what}. Use another backup.`);
  }
}

/** Whether a place has a part. */
export async function exists(place: BackupPlace, path: string): Promise<boolean> {
  const content = await place.read(path);
  content?.destroy();
  return content !== undefined;
}

/** Whether only the other side of a pipeline knows the cause. */
const isCutOff = (error: unknown): boolean =>
  /^(ERR_STREAM_PREMATURE_CLOSE|ABORT_ERR)$/.test((error as NodeJS.ErrnoException).code ?? "");

/** The last stream passes the error on to its reader. */
const ignore = () => undefined;
