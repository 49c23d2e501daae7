import type { Scope } from "../../platform/database/scope";
import { DomainError } from "../../platform/errors";
import { Files } from "../files/files";
import { isReadable } from "../../platform/ports/document-reader";
import { AttachedFiles } from "./attached-files";

const RETRY_HINT = "The file could not be read. Attach it again to retry.";

/**
 * Reads a file and indexes its passages. A problem of the file is stored. Other errors are thrown, so that the job is
 * retried; the last attempt also stores a problem.
 */
export async function indexFile(scope: Scope, fileId: string, lastAttempt: boolean): Promise<void> {
  const attached = scope.of(AttachedFiles);
  try {
    const { file, content } = await scope.of(Files).content(fileId);
    if (!isReadable(file.detectedType)) return void content.destroy();
    await attached.storeResult(fileId, await scope.ports.reader.read(file.detectedType, content));
  } catch (error) {
    if (error instanceof DomainError && error.code === "FILE_NOT_FOUND") return; // deleted in the meantime
    if (lastAttempt) await giveUpIndexing(scope, fileId);
    throw error;
  }
}

/** Marks a file as failed for all assistants. */
export const giveUpIndexing = (scope: Scope, fileId: string): Promise<void> =>
  scope.of(AttachedFiles).storeResult(fileId, { problem: RETRY_HINT });
