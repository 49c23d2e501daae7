import type { RowsOf } from "../../platform/database/tables/rows";
import type { Scope } from "../../platform/database/scope";

/** Lock between erasures and exports: neither reads data that the other is changing. */
const LOCK = "exports";

/** Until the end of the transaction, no erasure removes data that an export is about to read. */
export const lockExports = (scope: Scope): Promise<void> => scope.lock(LOCK);

/** The people or chats whose exports are withdrawn. */
export interface ErasedData {
  /** Keyed digests of all names of the person. */
  readonly digests?: readonly string[];
  readonly chatIds?: readonly string[];
}

/**
 * Withdraws exports with data of an erased person or chat, finished or not. Runs in the transaction of the erasure. A
 * job removes the archives.
 * @returns the number of withdrawn exports
 */
export async function withdrawExports(
  scope: Scope,
  { digests = [], chatIds = [] }: ErasedData,
): Promise<number> {
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

/** Ends exports and enqueues removal of their archives. Runs in a transaction. @returns the number of exports */
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

/** Removes the content of an archive that its export no longer refers to. */
export const removeArchive = (scope: Scope, archiveId: string): Promise<void> =>
  scope.ports.storage.remove(archiveKey(scope, archiveId));

/** Storage key of an archive. */
export const archiveKey = ({ organizationId }: Scope, archiveId: string): string =>
  `${organizationId}/${archiveId}`;
