import { Readable } from "node:stream";
import type { Database } from "../../platform/database/database";
import type { Availability } from "../../platform/availability";
import { newId } from "../../platform/database/values/ids";
import { DomainError } from "../../platform/errors";
import { isNetworkFailure } from "../../platform/network-failures";
import type { Storage } from "../../platform/ports/storage";

/** Lifetime of the result of a check. */
const CHECK_LIFETIME_MS = 5_000;

const MARKER_TEXT =
  "This storage contains the files of a Parley installation. Every server on its database must use this storage: " +
  "share the folder, or set S3_BUCKET. See docs/deployment.md.\n";

type FileStoreDatabase = Pick<Database, "fileStore" | "claimFileStore" | "replaceFileStore">;

/**
 * The file store of the installation, shared by all servers. The database has the id of the store, and the store has a
 * marker file with this id, so that a server with another folder is detected before it loses or misses files.
 */
export class FileStore {
  private checkedAt = -Infinity;
  private result: Promise<boolean> = Promise.resolve(true);

  constructor(
    private readonly database: FileStoreDatabase,
    private readonly storage: Storage,
    private readonly availability?: Availability,
  ) {}

  /** Makes this server's storage the store of the installation, unless it already has one. */
  async claim(): Promise<void> {
    if ((await this.database.fileStore()) !== undefined) return;
    const id = await this.createMarker();
    // If several servers start at once, one succeeds; the others remove their markers.
    if ((await this.database.claimFileStore(id)) !== id) await this.storage.remove(markerOf(id));
  }

  /**
   * Writes the marker again if this server's storage is the store of the installation. @throws Error if it cannot, or if
   * there is no such storage
   */
  async tryToWrite(): Promise<void> {
    const id = await this.database.fileStore();
    if (id === undefined) return;
    if (await this.storage.has(markerOf(id))) return this.writeMarker(id);
    for await (const _ of this.storage.list()) return; // a bucket that does not exist lacks the marker, too
  }

  /** Makes this server's storage the store of the installation, replacing any other: after files were moved or lost. */
  async adopt(): Promise<void> {
    await this.database.replaceFileStore(await this.createMarker());
  }

  /** Whether this server can access the store of the installation. The result is cached for 5 s. */
  async isReachable(): Promise<boolean> {
    if (performance.now() - this.checkedAt > CHECK_LIFETIME_MS) {
      this.checkedAt = performance.now();
      this.result = this.check();
      this.result.catch(() => (this.checkedAt = -Infinity));
    }
    return this.result;
  }

  private async check(): Promise<boolean> {
    const id = await this.database.fileStore();
    if (id === undefined) return true;
    try {
      const isHere = await this.storage.has(markerOf(id));
      this.availability?.works();
      return isHere;
    } catch (error) {
      this.availability?.failed(error);
      throw error;
    }
  }

  private async createMarker(): Promise<string> {
    const id = newId();
    await this.writeMarker(id);
    return id;
  }

  private async writeMarker(id: string): Promise<void> {
    await this.storage.put(markerOf(id), Readable.from([MARKER_TEXT]));
  }
}

/** The key of the marker file of a store. */
export const markerOf = (id: string): string => `installation/${id}`;

/** A storage that fails with UNAVAILABLE while this server cannot access the store of the installation. */
export function guardedStorage(storage: Storage, isReachable: () => Promise<boolean>): Storage {
  const check = async () => {
    if (!(await isReachable()))
      throw new DomainError(
        "UNAVAILABLE",
        "This server does not see the installation's files. The operator must share DATA_DIR or set S3_BUCKET.",
      );
  };
  return {
    ...storage,
    put: (key, content) => reported(async () => (await check(), storage.put(key, content))),
    get: (key) => reported(async () => (await check(), storage.get(key))),
    has: (key) => reported(() => storage.has(key)),
    remove: (key) => reported(() => storage.remove(key)),
  };
}

/** Errors of a folder that the server may not use, or whose disk has failed. */
const UNUSABLE = /^(EACCES|EPERM|EROFS|EIO|ENODEV|ENXIO|ENOTDIR|ESTALE|ENOTCONN)$/;

/** Names of errors of a bucket that has disappeared, that has dropped an unfinished upload, or without a key for it. */
const OF_BUCKET: ReadonlySet<string> = new Set(["NoSuchBucket", "NoSuchUpload", "CredentialsProviderError"]);

interface StorageError extends NodeJS.ErrnoException {
  /** The response of the bucket's service, if there was one. */
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Why a storage cannot be used; undefined for other errors, such as a file that is not there. */
function failureOf(error: StorageError): string | undefined {
  const { code, name, $metadata } = error;
  if (UNUSABLE.test(code ?? "") || isNetworkFailure(error)) return code ?? name;
  const status = $metadata?.httpStatusCode;
  if (status !== undefined && status !== 404) return `status ${status}`;
  return OF_BUCKET.has(name) ? name : undefined;
}

/** @throws UNAVAILABLE if the folder or the bucket of the files cannot be used */
async function reported<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = failureOf(error as StorageError);
    if (reason === undefined) throw error;
    const message = `The server cannot use its file storage (${reason}). Try again later; the operator must repair it.`;
    throw Object.assign(new DomainError("UNAVAILABLE", message), { cause: error });
  }
}
