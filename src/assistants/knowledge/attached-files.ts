import { Templates } from "../configurations/templates";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { invalid, missing } from "../../platform/errors";
import { Files } from "../files/files";
import { VersionKeeper } from "../history/version-keeper";
import { isReadable, READABLE, type ReadResult } from "../../platform/ports/document-reader";
import { Embeddings } from "./embeddings";
import { FilePassages } from "./file-passages";
import { storePassages } from "./store-passages";

export type IndexStatus = "PENDING" | "READY" | "FAILED";

/** A file that an assistant uses for answers, with the status of its index. */
export interface AttachedFile {
  /** Id of the file. */
  readonly id: string;
  readonly name: string;
  readonly detectedType: string;
  readonly size: number;
  readonly status: IndexStatus;
  /** Why indexing failed. */
  readonly problem: string | null;
  /** Number of indexed passages. */
  readonly passages: number;
  readonly attachedAt: Date;
}

interface AttachmentRow extends Pick<AttachedFile, "status" | "problem" | "passages"> {
  readonly assistantId: string;
  readonly fileId: string;
}

/** Per assistant. */
const MAX_FILES = 100;

const FILES_OF_ASSISTANTS = statement<AttachedFile & { assistantId: string; size: string }>(({ db }) =>
  db.raw(`
  select assistant_files.assistant_id, files.id, files.name, files.detected_type, files.size, assistant_files.status,
    assistant_files.problem, assistant_files.passages, assistant_files.created_at as attached_at
  from assistant_files join files on files.organization_id = $1 and files.id = assistant_files.file_id
  where assistant_files.organization_id = $1 and assistant_files.assistant_id = any($2::text[])
  order by assistant_files.created_at, files.id`),
);

/**
 * The files that assistants use for answers. The passages of a file are stored once for all assistants, as long as one
 * of them has the file, in its current version or another one.
 */
export class AttachedFiles {
  private readonly passages: FilePassages;

  constructor(private readonly scope: Scope) {
    this.passages = scope.of(FilePassages);
  }

  /** The files of an assistant in order of attachment. Calls in the same tick share one statement. */
  of(assistantId: string): Promise<AttachedFile[]> {
    const loader = this.scope.loader<AttachedFile[]>("attached_files", async (ids) => {
      const rows = await this.scope.read(FILES_OF_ASSISTANTS, [ids]);
      const files = rows.map((row) => ({ ...row, size: Number(row.size) }));
      return ids.map((id) => files.filter((row) => row.assistantId === id));
    });
    return loader.load(assistantId);
  }

  /**
   * Attaches a file to an assistant; a job indexes it. Attaching it again retries a failed index and otherwise does
   * nothing.
   * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, FILE_NOT_FOUND; BAD_USER_INPUT for an unsupported type or too many
   * files
   */
  async attach(assistantId: string, fileId: string): Promise<void> {
    await this.scope.transaction(async (scope) => {
      const attached = scope.of(AttachedFiles);
      await attached.lockAssistant(assistantId);
      await scope.of(VersionKeeper).begin(assistantId);
      const { detectedType } = await scope.of(Files).byId(fileId);
      if (!isReadable(detectedType)) throw notReadable(detectedType);
      if ((await attached.passages.lock(fileId)) === undefined) missing("File", fileId);
      const isNew = await attached.add(assistantId, fileId);
      if (isNew) await scope.of(VersionKeeper).record(assistantId);
    });
  }

  /**
   * Attaches and detaches files until the assistant has these. Runs in a transaction that has locked the assistant.
   * @returns how many of them no longer exist
   */
  async replace(assistantId: string, fileIds: readonly string[]): Promise<number> {
    const attached = await this.rows({ assistantId });
    for (const { fileId } of attached)
      if (!fileIds.includes(fileId)) await this.removeAttachment(assistantId, fileId);
    const added = fileIds.filter((id) => !attached.some(({ fileId }) => fileId === id)).sort();
    let lost = 0;
    for (const id of added) {
      const detectedType = await this.passages.lock(id);
      if (detectedType === undefined) lost++;
      else if (isReadable(detectedType)) await this.add(assistantId, id);
    }
    return lost;
  }

  /** Attaches a locked file. @returns whether the assistant did not have it */
  private async add(assistantId: string, fileId: string): Promise<boolean> {
    const known = await this.rows({ fileId });
    const own = known.find((row) => row.assistantId === assistantId);
    if (own && own.status !== "FAILED") return false;
    if (!own) await this.checkCount(assistantId);
    const passages = await this.passages.count(fileId);
    const isRead = passages > 0 || known.some(({ status }) => status === "READY");
    await this.scope
      .insert("assistant_files", { assistantId, fileId, status: isRead ? "READY" : "PENDING", passages })
      .onConflict(["organizationId", "assistantId", "fileId"])
      .merge(["status", "passages", "problem"]);
    await this.passages.unkeep(assistantId, fileId);
    if (!isRead) await this.enqueue(fileId);
    return !own;
  }

  /**
   * Indexes files that only a draft or another version of an assistant has, for conversations with it. Leaves out deleted
   * files. Runs in a transaction.
   */
  async addUnattached(assistantId: string, fileIds: readonly string[]): Promise<void> {
    const attached = await this.rows({ assistantId });
    for (const fileId of [...new Set(fileIds)].sort()) {
      if (attached.some((row) => row.fileId === fileId)) continue;
      if ((await this.passages.lock(fileId)) === undefined) continue;
      await this.passages.keep(assistantId, fileId);
      if ((await this.passages.count(fileId)) === 0) await this.enqueue(fileId);
    }
  }

  /** Does nothing if the file is not attached. @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, FILE_NOT_FOUND */
  async detach(assistantId: string, fileId: string): Promise<void> {
    await this.scope.transaction(async (scope) => {
      await scope.of(AttachedFiles).lockAssistant(assistantId);
      await scope.of(VersionKeeper).begin(assistantId);
      await scope.of(Files).byId(fileId);
      await scope.of(AttachedFiles).removeAttachment(assistantId, fileId);
      await scope.of(VersionKeeper).record(assistantId);
    });
  }

  /** Detaches all files of an assistant that is being deleted, and deletes the passages of its resources. */
  async detachAll(assistantId: string): Promise<void> {
    for (const { fileId } of await this.rows({ assistantId })) {
      await this.passages.lock(fileId);
      await this.scope.table("assistant_files").where({ assistantId, fileId }).delete();
      await this.passages.release(assistantId, fileId);
    }
    for (const fileId of (await this.passages.kept(assistantId)).sort())
      await this.passages.release(assistantId, fileId);
    await this.scope.table("passages").where({ assistantId }).delete();
  }

  /** Stores the result of reading a file, unless no version of an assistant has the file anymore. */
  async storeResult(fileId: string, reading: ReadResult): Promise<void> {
    await this.scope.transaction(async (scope) => {
      const attached = scope.of(AttachedFiles);
      if ((await attached.passages.lock(fileId)) === undefined) return;
      if (!(await attached.passages.isUsed(fileId))) return;
      await scope.table("passages").where({ fileId }).delete();
      const passages = "passages" in reading ? reading.passages : [];
      await storePassages(scope, fileId, passages);
      const outcome =
        "problem" in reading
          ? { status: "FAILED" as const, problem: reading.problem }
          : { status: "READY" as const, problem: null };
      await scope
        .table("assistant_files")
        .where({ fileId })
        .update({ ...outcome, passages: passages.length });
      if (passages.length > 0) await scope.of(Embeddings).enqueue({ fileId });
    });
  }

  private async removeAttachment(assistantId: string, fileId: string): Promise<void> {
    await this.passages.lock(fileId);
    const removed = await this.scope.table("assistant_files").where({ assistantId, fileId }).delete();
    if (removed === 0) return;
    if (await this.scope.of(VersionKeeper).isKeeping()) return this.passages.keep(assistantId, fileId);
    await this.passages.release(assistantId, fileId);
  }

  private async rows(condition: { fileId: string } | { assistantId: string }): Promise<AttachmentRow[]> {
    return await this.scope.table("assistant_files").where(condition).orderBy("fileId");
  }

  /** Locks the assistant against deletion and other attachments until the end of the transaction. */
  private async lockAssistant(id: string): Promise<void> {
    const live = this.scope
      .table("assistants")
      .select("id")
      .where({ id })
      .whereNull("deletedAt")
      .forNoKeyUpdate();
    const locked = await live;
    if (locked.length === 0) await this.scope.of(Templates).rejectWrite(id);
  }

  private async checkCount(assistantId: string): Promise<void> {
    if ((await this.rows({ assistantId })).length >= MAX_FILES)
      throw invalid([
        {
          path: "fileId",
          message: `exceeds the limit of ${MAX_FILES} files per assistant: detach one first`,
        },
      ]);
  }

  /** Files of an organization are indexed one after another, so that many of them do not delay other organizations. */
  private async enqueue(fileId: string): Promise<void> {
    const { organizationId } = this.scope;
    const options = { queue: `files:${organizationId}`, key: `file.index:${organizationId}:${fileId}` };
    await this.scope.enqueue("file.index", { fileId }, { ...options, attempts: 3 });
  }
}

function notReadable(type: string) {
  const kinds = Object.values(READABLE);
  const known = `${kinds.slice(0, -1).join(", ")} and ${kinds.at(-1)}`;
  return invalid([{ path: "fileId", message: `is a file of type ${type}: only ${known} can be read` }]);
}
