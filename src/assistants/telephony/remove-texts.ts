import { currentDate } from "../../platform/clock";
import { deleteFound } from "../../platform/database/delete-found";
import type { Scope } from "../../platform/database/scope";
import { inRun } from "../../platform/jobs/rest";

/** Rows that one statement deletes. */
const BATCH_SIZE = 100;
/** After this time every transaction that has read the number before it was disconnected has ended. */
const PAUSE_MS = 30_000;

/** Tables with the texts and conversations of a number, and their keys. */
const TABLES = [
  ["sms_received", "messageSid"],
  ["sms_threads", "chatId"],
] as const;

/** Lets a job remove the texts of a number that this transaction disconnects. */
export async function removeTextsLater(scope: Scope, connectionId: string): Promise<void> {
  const key = `sms.remove:${scope.organizationId}:${connectionId}`;
  await scope.enqueue("sms.remove", { connectionId }, { key, runAt: currentDate(PAUSE_MS) });
}

/** Removes the received texts of a disconnected number, and the marks up to where its chats were sent. */
export async function removeTexts(scope: Scope, connectionId: string): Promise<void> {
  const found = await scope.table("telephony_connections").where({ id: connectionId }).select("id");
  if (found.length > 0) return;
  if (await inRun(() => removeSome(scope, connectionId))) await removeTextsLater(scope, connectionId);
}

/**
 * A range that is ordered by its column makes PostgreSQL read the index of the numbers. With an equality it may read the
 * table from its beginning, with all texts that have just been removed.
 * @returns whether there may be more
 */
async function removeSome(scope: Scope, connectionId: string): Promise<boolean> {
  for (const [table, key] of TABLES) {
    const ofNumber = scope.table(table).whereBetween("connectionId", [connectionId, connectionId]);
    const some = ofNumber.orderBy("connectionId").limit(BATCH_SIZE).select(key);
    if ((await deleteFound(scope, table, key, some)) === BATCH_SIZE) return true;
  }
  return false;
}
