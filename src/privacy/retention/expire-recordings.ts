import { enqueueErasure } from "../../channels/calls/erase-call";
import { deleteEvents } from "../../events/events/delivery-sums";
import type { AuditedOperation } from "../../platform/database/tables/audited-operation";
import type { Scope } from "../../platform/database/scope";

const BATCH_SIZE = 100;

/**
 * Removes recordings of calls that ended at least `days` ago: their URLs, their events and the engine's copies.
 * @returns whether there are more
 */
export async function expireRecordings(
  scope: Scope,
  days: number,
  operation: AuditedOperation,
): Promise<boolean> {
  return scope.audited(operation).transaction(async (scope) => {
    const old = await scope
      .table("chats")
      .select("id")
      .whereNotNull("recordingUrl")
      .where({ status: "ended" })
      .whereRaw("started_at < now() - ? * interval '1 day'", [days])
      .whereRaw("ended_at < now() - ? * interval '1 day'", [days])
      .orderBy("startedAt")
      .limit(BATCH_SIZE)
      .forUpdate();
    const ids = old.map(({ id }) => id);
    const found = scope.table("events").whereIn("chatId", ids).where({ name: "call-recording" });
    const events = (await found.select("id")).map(({ id }) => id);
    operation.count({ recordings: ids.length, events: await deleteEvents(scope, events) });
    await enqueueErasure(scope, ids);
    await scope.table("chats").whereIn("id", ids).update({ recordingUrl: null });
    return old.length === BATCH_SIZE;
  });
}
