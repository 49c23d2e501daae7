import type { Scope } from "../../platform/database/scope";

/**
 * The passages of files. They stay as long as an assistant has the file, in its current version, another version or its
 * draft. The table `version_files` names the files that only another version or the draft has.
 */
export class FilePassages {
  constructor(private readonly scope: Scope) {}

  /** Locks a file until the end of the transaction. @returns its type; undefined if it does not exist */
  async lock(fileId: string): Promise<string | undefined> {
    const rows = this.scope.table("files").select("detectedType").where({ id: fileId }).forNoKeyUpdate();
    return (await rows)[0]?.detectedType;
  }

  /** Number of passages, without those of earlier releases, which a file gets anew when it is attached. */
  async count(fileId: string): Promise<number> {
    const rows = this.scope.table("passages").where({ fileId }).whereNotNull("language");
    const [stored] = await rows.count<{ count: string }[]>("* as count");
    return Number(stored?.count);
  }

  /** Keeps the passages of a file for other versions of an assistant, or its draft. */
  async keep(assistantId: string, fileId: string): Promise<void> {
    await this.scope
      .insert("version_files", { assistantId, fileId })
      .onConflict(["organizationId", "assistantId", "fileId"])
      .ignore();
  }

  /** The assistant itself has the file again. */
  async unkeep(assistantId: string, fileId: string): Promise<void> {
    await this.scope.table("version_files").where({ assistantId, fileId }).delete();
  }

  /** Whether an assistant has a file, in any version; also one that the caller may not see. */
  isUsed(fileId: string): Promise<boolean> {
    return isUsedIn(this.scope.unlimited(), fileId);
  }

  /** Whether the caller may name a file: one that is limited to assistants only those that they have, in any version. */
  async isReachable(fileId: string): Promise<boolean> {
    return !this.scope.assistantIds || (await isUsedIn(this.scope, fileId));
  }

  /** Ids of the files that only other versions of an assistant, or its draft, have. */
  async kept(assistantId: string): Promise<string[]> {
    const rows = await this.scope.table("version_files").where({ assistantId }).select("fileId");
    return rows.map(({ fileId }) => fileId);
  }

  /** Deletes the passages of a file that an assistant no longer has in any version, unless another one has it. */
  async release(assistantId: string, fileId: string): Promise<void> {
    await this.lock(fileId);
    await this.unkeep(assistantId, fileId);
    if (!(await this.isUsed(fileId))) await this.scope.table("passages").where({ fileId }).delete();
  }
}

async function isUsedIn(scope: Scope, fileId: string): Promise<boolean> {
  for (const table of ["assistant_files", "version_files"] as const) {
    const rows = scope.table(table).where({ fileId }).select("fileId").limit(1);
    if ((await rows).length > 0) return true;
  }
  return false;
}
