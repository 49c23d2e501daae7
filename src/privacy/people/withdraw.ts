import type { RowsOf } from "../../platform/database/rows";
import type { Scope } from "../../platform/database/scope";

/** What erasures and exports exclude each other by: neither reads what the other writes at the same time. */
const LOCK = "exports";

/** Until the transaction ends, no erasure removes what an export is about to read. */
export const lockExports = (scope: Scope): Promise<void> => scope.lock(LOCK);

/** Whose exports are withdrawn. */
export interface Erased {
  /** Keyed digests of everything that the person may have been named by. */
  readonly digests?: readonly string[];
  readonly chatIds?: readonly string[];
}

/**
 * Withdraws the exports that hold something of an erased person or chat, finished or not. Call it in the transaction
 * of the erasure. A job removes the archives.
 * @returns how many
 */
export async function withdrawExports(scope: Scope, { digests = [], chatIds = [] }: Erased): Promise<number> {
  await lockExports(scope);
  return drop(
    scope,
    scope
      .table("end_user_exports")
      .whereIn("status", ["PENDING", "RUNNING", "DONE"])
      .where((either) => {
        either.whereIn("digest", digests);
        either.orWhereRaw("end_user_exports.chat_ids && ?::text[]", [[...chatIds]]);
      }),
    "WITHDRAWN",
  );
}

/** Ends exports, and has their archives removed. In a transaction. @returns how many */
export async function drop(
  scope: Scope,
  which: RowsOf<"end_user_exports">,
  status: "WITHDRAWN" | "EXPIRED",
): Promise<number> {
  const rows = await which.select("id", "archiveId").forUpdate();
  const ids = rows.map(({ id }) => id);
  const nothing = { sealedTarget: null, archiveId: null, chatIds: [] };
  if (ids.length > 0)
    await scope
      .table("end_user_exports")
      .whereIn("id", ids)
      .update({ status, ...nothing });
  for (const { archiveId } of rows)
    if (archiveId !== null) await scope.enqueue("export.remove", { archiveId });
  return rows.length;
}

/** Removes the bytes of an archive whose record no longer names it. */
export const removeArchive = (scope: Scope, archiveId: string): Promise<void> =>
  scope.ports.storage.remove(archiveKey(scope, archiveId));

/** Where an archive lies in the storage. */
export const archiveKey = ({ organizationId }: Scope, archiveId: string): string =>
  `${organizationId}/${archiveId}`;
