import type { Readable } from "node:stream";
import { newId } from "../../platform/database/values/ids";
import type { Conditions } from "../../platform/database/lists/filtered-statement";
import { rowById } from "../../platform/database/lists/row-by-id";
import { List, page, type Page, type PageQuery } from "../../platform/database/lists/page";
import { containing } from "../../platform/database/values/containing";
import type { Scope } from "../../platform/database/scope";
import { DomainError, missing } from "../../platform/errors";
import { runInOrder } from "../../platform/run-in-order";
import { VersionKeeper } from "../history/version-keeper";
import { Quotas } from "../../account/organization/quotas";
import { contentKey } from "./content-key";
import { cleanName, cleanType, detectType } from "./describe";
import { downloadLink, type DownloadLink } from "./links";

export interface File {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  /** The type declared by the client; never trusted. */
  readonly mimeType: string;
  /** The type detected from the content. */
  readonly detectedType: string;
  /** In bytes. */
  readonly size: number;
  readonly metadata: Record<string, unknown>;
  readonly createdAt: Date;
}

/** A file that is being uploaded. */
export interface Upload {
  readonly filename: string;
  readonly mimetype: string;
  createReadStream(): Readable;
}

/** The columns that an imported file keeps. */
interface KeptColumns {
  readonly id: string;
  readonly createdAt?: Date | null | undefined;
}

const COLUMNS = [
  "id",
  "name",
  "organizationId",
  "mimeType",
  "detectedType",
  "size",
  "metadata",
  "createdAt",
] as const;

const CONDITIONS = {
  name: (rows, pattern) => rows.whereRaw("name ilike ?", [pattern]),
  mimeType: (rows, value) => rows.whereRaw("? in (mime_type, split_part(mime_type, '/', 1))", [value]),
} satisfies Conditions<string>;

/** `name`: part of a name, case-insensitive. `mimeType`: a declared type, or the part before its slash. */
export type FileQuery = PageQuery & { readonly [Name in keyof typeof CONDITIONS]?: string | null };

const LIST = new List({
  table: "files",
  columns: COLUMNS,
  unbounded: { metadata: {} },
  conditions: CONDITIONS,
});

/** The files of an organization. Their content is in the storage, under the file's id. */
export class Files {
  constructor(private readonly scope: Scope) {}

  async list(query: FileQuery): Promise<Page<File>> {
    const { name, mimeType } = query;
    const filter = { name: name ? containing(name) : null, mimeType: mimeType?.toLowerCase() };
    const { data, meta } = await page(this.scope, LIST, query, filter);
    return { data: data.map(toFile), meta };
  }

  /** Calls in the same tick share one statement. @throws FILE_NOT_FOUND */
  async byId(id: string): Promise<File> {
    return toFile((await rowById(this.scope, "files", id)) ?? missing("File", id));
  }

  /**
   * Stores a file: first its content, then its record, so that no record lacks its content.
   * @throws PAYLOAD_TOO_LARGE, QUOTA_EXCEEDED
   */
  upload(file: Upload, metadata: Record<string, unknown> = {}): Promise<File> {
    return this.store(file, metadata, { id: newId() });
  }

  /**
   * Stores a file of another service with its id. An existing one stays as it is.
   * @throws PAYLOAD_TOO_LARGE, QUOTA_EXCEEDED
   */
  import(file: Upload, metadata: Record<string, unknown>, kept: KeptColumns): Promise<File> {
    return runInOrder(this.orderOf(kept.id), async () => {
      const [stored] = await this.scope.table("files").where({ id: kept.id });
      if (!stored) return this.store(file, metadata, kept);
      file.createReadStream().destroy();
      return toFile(stored);
    });
  }

  private async store(file: Upload, metadata: Record<string, unknown>, kept: KeptColumns): Promise<File> {
    const { id, createdAt } = kept;
    const { storage } = this.scope.ports;
    const quotas = this.scope.of(Quotas);
    const room = await quotas.roomForFile();
    const source = file.createReadStream();
    const { content, detectedType } = await detectType(source);
    const size = await storage
      .put(this.key(id), quotas.bounded(content, room))
      .finally(() => source.destroy());
    const row = {
      id,
      name: cleanName(file.filename),
      mimeType: cleanType(file.mimetype),
      detectedType: detectedType(),
      size: String(size),
      metadata,
      ...(createdAt && { createdAt }),
    };
    try {
      return await this.scope.transaction(async (scope) => {
        await scope.of(Quotas).checkFile(size);
        const [stored] = await scope.insert("files", row);
        return toFile(stored!);
      });
    } catch (error) {
      // Another import may have stored the file with this id, and its content.
      const others = this.scope.table("files").select("id").where({ id });
      if ((await others.catch(() => [{ id }])).length === 0) await this.discard(id);
      throw error;
    }
  }

  /** Deletes a file, and makes a version of each assistant that had it. @throws FILE_NOT_FOUND */
  remove(id: string): Promise<{ id: string }> {
    return runInOrder(this.orderOf(id), () => this.removeNow(id));
  }

  private async removeNow(id: string): Promise<{ id: string }> {
    let isRemoved: boolean;
    do isRemoved = await this.scope.transaction((scope) => scope.of(Files).tryRemove(id));
    while (!isRemoved);
    await this.discard(id);
    return { id };
  }

  /** @returns false if another assistant has got the file meanwhile, which is to be locked first. @throws FILE_NOT_FOUND */
  private async tryRemove(id: string): Promise<boolean> {
    const keeper = this.scope.of(VersionKeeper);
    const owners = await this.ownersOf(id);
    for (const owner of owners) await keeper.lock(owner); // before the file, as attaching does
    for (const owner of owners) await keeper.begin(owner);
    await this.scope.table("files").select("id").where({ id }).forUpdate();
    if ((await this.ownersOf(id)).some((owner) => !owners.includes(owner))) return false;
    if ((await this.scope.table("files").where({ id }).delete()) === 0) missing("File", id);
    for (const owner of owners) await keeper.record(owner);
    return true;
  }

  /** Ids of the assistants that have the file. */
  private async ownersOf(fileId: string): Promise<string[]> {
    const rows = this.scope.table("assistant_files").where({ fileId }).orderBy("assistantId");
    return (await rows.select("assistantId")).map(({ assistantId }) => assistantId);
  }

  /** A link that needs no credential and expires after an hour. @throws FILE_NOT_FOUND */
  async download(id: string): Promise<DownloadLink> {
    await this.byId(id);
    return this.linkTo(id);
  }

  /** The link of a file that exists. */
  linkTo(id: string): DownloadLink {
    return downloadLink(this.scope, `/files/${this.scope.organizationId}/${encodeURIComponent(id)}`);
  }

  /**
   * A file with its content. Callers check the link.
   * @throws FILE_NOT_FOUND, FILE_CONTENT_MISSING; UNAVAILABLE while this server cannot access the file store
   */
  async content(id: string): Promise<{ file: File; content: Readable }> {
    const file = await this.byId(id);
    const { storage } = this.scope.ports;
    const content = await storage.get(this.key(id)).catch(async (error: unknown) => {
      if (error instanceof DomainError || (await storage.has(this.key(id)))) throw error;
      return missing("FileContent", id);
    });
    return { file, content };
  }

  /** Removes the content of a file without a record. What a storage that is away keeps, the sweep of unused files removes. */
  private async discard(id: string): Promise<void> {
    await this.scope.ports.storage.remove(this.key(id)).catch(() => undefined);
  }

  /** The order in which imports and deletions of one id run: an import may choose the id of another one. */
  private orderOf(id: string): string {
    return `content of ${this.key(id)}`;
  }

  private key(id: string): string {
    return contentKey(this.scope.organizationId, id);
  }
}

type FileRow = Omit<File, "size"> & { readonly size: string };

/** Converts the size: PostgreSQL sends bigint as text. */
const toFile = (row: FileRow): File => ({ ...row, size: Number(row.size) });
