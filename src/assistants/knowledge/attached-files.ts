import { Templates } from "../configurations/templates";
import { newId } from "../../platform/database/ids";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { invalid } from "../../platform/errors";
import { Files } from "../files/files";
import { isReadable, READABLE, type ReadResult } from "../../platform/ports/document-reader";
import { Embeddings } from "./embeddings";

export type IndexStatus = "PENDING" | "READY" | "FAILED";

/** A file that an assistant answers from, and how far it has been read. */
export interface AttachedFile {
  /** The file's own. */
  readonly id: string;
  readonly name: string;
  readonly detectedType: string;
  readonly size: number;
  readonly status: IndexStatus;
  /** Why it failed. */
  readonly problem: string | null;
  /** How many passages can be found in it. */
  readonly passages: number;
  readonly attachedAt: Date;
}

interface AttachmentRow extends Pick<AttachedFile, "status" | "problem" | "passages"> {
  readonly assistantId: string;
  readonly fileId: string;
}

/** Files of one assistant. */
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
 * The files that assistants answer from. What is in a file is kept once, for all assistants that have it, and for as
 * long as one has it.
 */
export class AttachedFiles {
  constructor(private readonly scope: Scope) {}

  /** The files of an assistant in the order in which they were attached; those of many by one statement. */
  of(assistantId: string): Promise<AttachedFile[]> {
    const loader = this.scope.loader<AttachedFile[]>("attached_files", async (ids) => {
      const rows = await this.scope.read(FILES_OF_ASSISTANTS, [ids]);
      const shown = rows.map((row) => ({ ...row, size: Number(row.size) }));
      return ids.map((id) => shown.filter((row) => row.assistantId === id));
    });
    return loader.load(assistantId);
  }

  /**
   * Lets an assistant answer from a file; the file is read by a job. Once more does nothing, but for a file that could
   * not be read: that is tried again.
   * @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, FILE_NOT_FOUND; BAD_USER_INPUT for a type that can't be read, or one file too many
   */
  async attach(assistantId: string, fileId: string): Promise<void> {
    await this.scope.transaction(async (scope) => {
      const attached = scope.of(AttachedFiles);
      await attached.lockAssistant(assistantId);
      const { detectedType } = await scope.of(Files).byId(fileId);
      if (!isReadable(detectedType)) throw notReadable(detectedType);
      await attached.lockFile(fileId);
      const known = await attached.rows({ fileId });
      const own = known.find((row) => row.assistantId === assistantId);
      if (own && own.status !== "FAILED") return;
      if (!own) await attached.checkCount(assistantId);
      const read = known.find(({ status }) => status === "READY");
      const { status, passages } = read ?? { status: "PENDING", passages: 0 };
      await scope
        .insert("assistant_files", { assistantId, fileId, status, passages })
        .onConflict(["organizationId", "assistantId", "fileId"])
        .merge(["status", "passages", "problem"]);
      if (!read) await attached.enqueue(fileId);
    });
  }

  /** @throws ASSISTANT_NOT_FOUND, TEMPLATE_READ_ONLY, FILE_NOT_FOUND; nothing happens where it was not attached */
  async detach(assistantId: string, fileId: string): Promise<void> {
    await this.scope.transaction(async (scope) => {
      await scope.of(AttachedFiles).lockAssistant(assistantId);
      await scope.of(Files).byId(fileId);
      await scope.of(AttachedFiles).removeAttachment(assistantId, fileId);
    });
  }

  /** Takes all files from an assistant that is going, and what is kept of its resources. */
  async detachAll(assistantId: string): Promise<void> {
    for (const { fileId } of await this.rows({ assistantId }))
      await this.removeAttachment(assistantId, fileId);
    await this.scope.table("passages").where({ assistantId }).delete();
  }

  /** Keeps what was read of a file, unless nothing has it attached any more. */
  async storeResult(fileId: string, reading: ReadResult): Promise<void> {
    await this.scope.transaction(async (scope) => {
      const attached = scope.of(AttachedFiles);
      if (!(await attached.lockFile(fileId))) return;
      if ((await attached.rows({ fileId })).length === 0) return;
      await scope.table("passages").where({ fileId }).delete();
      const passages = "passages" in reading ? reading.passages : [];
      await scope.insertAll(
        "passages",
        passages.map(({ text, page }, ordinal) => ({
          id: newId(),
          fileId,
          ordinal,
          content: text,
          page: page ?? null,
        })),
      );
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
    await this.lockFile(fileId);
    await this.scope.table("assistant_files").where({ assistantId, fileId }).delete();
    const others = await this.rows({ fileId });
    if (others.length === 0) await this.scope.table("passages").where({ fileId }).delete();
  }

  private async rows(condition: { fileId: string } | { assistantId: string }): Promise<AttachmentRow[]> {
    return await this.scope.table("assistant_files").where(condition).orderBy("fileId");
  }

  /** Until the transaction ends nobody else changes what the assistant has, and nobody deletes it. */
  private async lockAssistant(id: string): Promise<void> {
    const live = this.scope
      .table("assistants")
      .select("id")
      .where({ id })
      .whereNull("deletedAt")
      .forNoKeyUpdate();
    const held = await live;
    if (held.length === 0) await this.scope.of(Templates).rejectWrite(id);
  }

  /** Until the transaction ends nobody else changes what is known of a file. @returns whether there is one */
  private async lockFile(id: string): Promise<boolean> {
    const held = await this.scope.table("files").select("id").where({ id }).forNoKeyUpdate();
    return held.length > 0;
  }

  private async checkCount(assistantId: string): Promise<void> {
    if ((await this.rows({ assistantId })).length >= MAX_FILES)
      throw invalid([
        {
          path: "fileId",
          message: `is one too many: the assistant has ${MAX_FILES} files, the most there may be`,
        },
      ]);
  }

  /** Files of one organization are read one after another: many of them hold up nobody else. */
  private async enqueue(fileId: string): Promise<void> {
    const { organizationId } = this.scope;
    const place = { queue: `files:${organizationId}`, key: `file.index:${organizationId}:${fileId}` };
    await this.scope.enqueue("file.index", { fileId }, { ...place, tries: 3 });
  }
}

function notReadable(type: string) {
  const kinds = Object.values(READABLE);
  const known = `${kinds.slice(0, -1).join(", ")} and ${kinds.at(-1)}`;
  return invalid([{ path: "fileId", message: `is a file of type ${type}: only ${known} can be read` }]);
}
