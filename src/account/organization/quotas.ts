import { Readable } from "node:stream";
import type { Scope } from "../../platform/database/scope";
import type { TenantTable } from "../../platform/database/tables/tables";
import { growthOf } from "../../platform/database/connections/growth";
import { DomainError } from "../../platform/errors";
import type { LookAtUsage } from "../../platform/ports/ports";
import { COUNTED_RECORDS } from "./counted-records";
import { filesAndBytes, type FileUse } from "./files-and-bytes";
import { StoredSize } from "./stored-size";

/** Name of the remembered bytes of files and archives. */
const FILE_USE = "files";
const usageKey = (name: string, organizationId: string) => `${name} ${organizationId}`;

/** A record whose values an operation replaces, possibly in several tables. */
export interface StoredRecord {
  readonly tables: readonly TenantTable[];
  /** Column of these tables that identifies the record. */
  readonly key: string;
  readonly id: string;
}

/** An organization with more room than this is not counted again for at least `LEAST_COUNT_LIFETIME_MS`. */
const SPARE_RECORDS = 1_000;
const LEAST_COUNT_LIFETIME_MS = 1_000;
const MOST_COUNT_LIFETIME_MS = 60_000;
/** The most records that one organization creates in a millisecond, on all servers: how long its room lasts at least. */
const FASTEST_GROWTH = 10;
/** The same for bytes of files and archives. */
const FASTEST_BYTES = 1_000_000;
/** Lifetime of cached stored bytes. */
const SIZE_LIFETIME_MS = 5_000;
/** Share of the stored bytes at which the organization is warned. */
const WARNING_SHARE = 0.9;
const REMEDY = "Delete files or logs, or keep them for fewer days (updateRetention)";
/** One lock for all quotas of an organization, so that transactions cannot deadlock. */
const LOCK = "quota";

/**
 * The quotas of an organization. Check and store a record in the same transaction: near a limit the check takes a lock,
 * so that concurrent requests cannot exceed it.
 */
export class Quotas {
  /** Includes all assistants, even if the key is limited to some. */
  private readonly whole: Scope;

  constructor(private readonly scope: Scope) {
    this.whole = scope.unlimited();
  }

  /** Must be called in the transaction that stores the record. @throws QUOTA_EXCEEDED */
  async checkRoomFor(kind: keyof typeof COUNTED_RECORDS): Promise<void> {
    await this.checkStorage();
    if (await this.isFarFromLimit(kind)) return;
    const { [kind]: limit } = this.whole.ports.quotas;
    const { noun, setting, remedy } = COUNTED_RECORDS[kind];
    const check = async () => {
      if ((await this.count(kind, limit)) >= limit) throw quotaExceeded(limit, noun, setting, remedy);
    };
    await check();
    await this.whole.lock(LOCK);
    await check();
  }

  /**
   * Runs work that stores a record. Near the limit it runs in a transaction with a lock.
   * @throws QUOTA_EXCEEDED
   */
  async withRoomFor<R>(kind: keyof typeof COUNTED_RECORDS, work: (scope: Scope) => Promise<R>): Promise<R> {
    await this.checkStorage();
    if (await this.isFarFromLimit(kind)) return work(this.scope);
    return this.scope.transaction(async (scope) => {
      await scope.of(Quotas).checkRoomFor(kind);
      return work(scope);
    });
  }

  /** Bytes of files and rows that the organization stores, without what other servers wrote in the last seconds. */
  async storedBytes(): Promise<number> {
    const { organizationId, inTransaction } = this.whole;
    const look = async () => {
      const size = this.whole.of(StoredSize);
      if (!inTransaction) await size.add();
      const rows = await size.bytes();
      const { bytes } = await this.fileUse(rows);
      return { value: rows + bytes, lifetimeMs: SIZE_LIFETIME_MS };
    };
    return (await this.known("bytes", look))! + growthOf(organizationId);
  }

  /** Must be called before data is stored. @throws QUOTA_EXCEEDED */
  async checkStorage(): Promise<void> {
    const limit = this.whole.ports.quotas.storedBytes;
    if ((await this.storedBytes()) >= limit) throw tooManyBytes(limit);
  }

  /**
   * Runs an operation that replaces values of a record. While the storage quota is used up, the record may become
   * smaller but not larger; the operation then runs in a transaction.
   * @throws QUOTA_EXCEEDED
   */
  async resize<R>(record: StoredRecord, work: (scope: Scope) => Promise<R>): Promise<R> {
    const limit = this.whole.ports.quotas.storedBytes;
    if ((await this.storedBytes()) < limit) return work(this.scope);
    return this.scope.transaction(async (scope) => {
      const quotas = scope.of(Quotas);
      const before = await quotas.sizeOf(record);
      const result = await work(scope);
      if ((await quotas.sizeOf(record)) > before) throw tooManyBytes(limit);
      return result;
    });
  }

  /** A warning if the stored bytes are near the limit. */
  async warnings(): Promise<string[]> {
    const limit = this.whole.ports.quotas.storedBytes;
    const bytes = await this.storedBytes();
    if (bytes < limit * WARNING_SHARE) return [];
    const percent = Math.floor((bytes / limit) * 100);
    return [
      `${percent} % of the organization's limit of ${limit} stored bytes (QUOTA_STORED_BYTES) are used. At 100 % requests that store something are refused. ${REMEDY}, or ask the operator to raise the limit.`,
    ];
  }

  /** Maximum size of a new file, in bytes. @throws QUOTA_EXCEEDED if no file is possible */
  async roomForFile(): Promise<number> {
    const limits = this.whole.ports.quotas;
    const rows = await this.whole.of(StoredSize).bytesNow();
    const { files, bytes } = await this.fileUse(rows);
    if (files >= limits.files) throw quotaExceeded(limits.files, "files", "QUOTA_FILES", "Delete some");
    return remainingBytes(bytes + rows, limits.storedBytes);
  }

  /** Maximum size of a new archive, in bytes; archives are not files. @throws QUOTA_EXCEEDED if none is possible */
  async roomForBytes(): Promise<number> {
    const rows = await this.whole.of(StoredSize).bytesNow();
    const { bytes } = await this.fileUse(rows);
    return remainingBytes(bytes + rows, this.whole.ports.quotas.storedBytes);
  }

  /** Must be called in the transaction that stores the record of the file. @throws QUOTA_EXCEEDED */
  async checkFile(size: number): Promise<void> {
    await this.lockNearLimit();
    if (size > (await this.roomForFile())) throw tooManyBytes(this.whole.ports.quotas.storedBytes);
  }

  /** Must be called in the transaction that stores the record of the archive. @throws QUOTA_EXCEEDED */
  async checkBytes(size: number): Promise<void> {
    await this.lockNearLimit();
    if (size > (await this.roomForBytes())) throw tooManyBytes(this.whole.ports.quotas.storedBytes);
  }

  /** Passes the bytes on. The stream fails with QUOTA_EXCEEDED after `limit` bytes. */
  bounded(content: Readable, limit: number): Readable {
    const { storedBytes } = this.whole.ports.quotas;
    async function* chunks() {
      let size = 0;
      for await (const chunk of content as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > limit) throw tooManyBytes(storedBytes);
        yield chunk;
      }
    }
    return Readable.from(chunks(), { objectMode: false });
  }

  /** Bytes of a record; 0 if it does not exist. */
  private async sizeOf({ tables, key, id }: StoredRecord): Promise<number> {
    const { whole } = this;
    const rows = tables.map((table) =>
      whole
        .table(table)
        .where({ [key]: id } as never) // each of the tables has this column
        .select<{ size: number }[]>(whole.sizeOf(table, "size")),
    );
    return (await Promise.all(rows)).flat().reduce((sum, { size }) => sum + size, 0);
  }

  /** Whether there is room for many more records; remembered for a moment. */
  private async isFarFromLimit(kind: keyof typeof COUNTED_RECORDS): Promise<boolean> {
    const { [kind]: limit } = this.whole.ports.quotas;
    const room = await this.known(kind, async () => {
      const value = limit - (await this.count(kind, limit));
      if (value <= SPARE_RECORDS) return undefined;
      const lasting = Math.min(MOST_COUNT_LIFETIME_MS, value / FASTEST_GROWTH);
      return { value, lifetimeMs: Math.max(LEAST_COUNT_LIFETIME_MS, lasting) };
    });
    return room !== undefined;
  }

  /** Returns a remembered figure of the organization's usage. Concurrent requests share one look. */
  private async known(name: string, look: LookAtUsage): Promise<number | undefined> {
    const { organizationId, ports, inTransaction } = this.whole;
    const { usage } = ports.quotas;
    const key = usageKey(name, organizationId);
    const known = usage.get(key);
    if (known !== undefined) return known;
    if (!inTransaction) return usage.fetch(key, { context: look });
    const seen = await look(); // nobody else waits for the end of this transaction
    if (seen) usage.set(key, seen.value, { ttl: seen.lifetimeMs });
    return seen?.value;
  }

  /** Number of records, at most `most`. Reads at most that many index entries. */
  private async count(kind: keyof typeof COUNTED_RECORDS, most: number): Promise<number> {
    const [row] = await this.whole.read(COUNTED_RECORDS[kind].counted, [most]);
    return Number(row!.count);
  }

  /** Counted files, and their bytes with archives; with room for many more beside `rows`, remembered bytes without the number. */
  private async fileUse(rows: number): Promise<FileUse> {
    const limits = this.whole.ports.quotas;
    let counted: FileUse | undefined;
    const bytes = await this.known(FILE_USE, async () => {
      counted = await filesAndBytes(this.whole);
      const room = limits.storedBytes - counted.bytes - rows;
      const lasting = Math.min((limits.files - counted.files) / FASTEST_GROWTH, room / FASTEST_BYTES);
      const lifetimeMs = Math.min(MOST_COUNT_LIFETIME_MS, lasting);
      return lifetimeMs < LEAST_COUNT_LIFETIME_MS ? undefined : { value: counted.bytes, lifetimeMs };
    });
    return counted ?? (bytes === undefined ? filesAndBytes(this.whole) : { files: 0, bytes });
  }

  /** Makes checks of files and archives wait for each other, unless their use is remembered. */
  private async lockNearLimit(): Promise<void> {
    const { organizationId, ports } = this.whole;
    if (!ports.quotas.usage.has(usageKey(FILE_USE, organizationId))) await this.whole.lock(LOCK);
  }
}

/** @throws QUOTA_EXCEEDED if there is none */
function remainingBytes(bytes: number, limit: number): number {
  if (bytes >= limit) throw tooManyBytes(limit);
  return limit - bytes;
}

const tooManyBytes = (limit: number) => quotaExceeded(limit, "stored bytes", "QUOTA_STORED_BYTES", REMEDY);

const quotaExceeded = (limit: number, noun: string, setting: string, remedy: string) =>
  new DomainError(
    "QUOTA_EXCEEDED",
    `The organization's limit is ${limit} ${noun} (${setting}). ${remedy}, or ask the operator to raise the limit.`,
  );
