import { currentDate } from "../../platform/clock";
import type { Scope } from "../../platform/database/scope";
import { inRun } from "../../platform/jobs/rest";

/** Rows that one statement deletes. */
const BATCH_SIZE = 2_000;
/** After this time every statement that has read the destination before its deletion has ended. */
const PAUSE_MS = 30_000;

/** Lets a job remove the deliveries of destinations that this transaction deletes. */
export async function removeDeliveriesLater(scope: Scope, destinationIds: readonly string[]): Promise<void> {
  for (const destinationId of destinationIds) {
    // Imported ids may be those of another organization.
    const key = `deliveries.remove:${scope.organizationId}:${destinationId}`;
    const options = { key, runAt: currentDate(PAUSE_MS) };
    await scope.enqueue("deliveries.remove", { destinationId }, options);
  }
}

/** Removes the deliveries of a destination that has been deleted, unless an import has brought it back. */
export async function removeDeliveries(scope: Scope, destinationId: string): Promise<void> {
  const found = await scope.table("webhook_destinations").where({ id: destinationId }).select("id");
  if (found.length > 0) return;
  const isLeft = await inRun(async () => {
    for (const remove of [removeSome, removeSomeQueues])
      if ((await remove(scope, destinationId)) === BATCH_SIZE) return true;
    return false;
  });
  if (isLeft) await removeDeliveriesLater(scope, [destinationId]);
}

async function removeSome(scope: Scope, destinationId: string): Promise<number> {
  const some = scope
    .table("deliveries")
    .where({ destinationId })
    .orderBy("id")
    .limit(BATCH_SIZE)
    .select("id");
  return await scope.table("deliveries").whereIn("id", some).delete();
}

async function removeSomeQueues(scope: Scope, destinationId: string): Promise<number> {
  const some = scope
    .table("delivery_queues")
    .where({ destinationId })
    .orderBy(["chatId", "deliveryId"])
    .limit(BATCH_SIZE)
    .select("chatId", "deliveryId");
  return await scope
    .table("delivery_queues")
    .where({ destinationId })
    .whereIn(["chatId", "deliveryId"], some)
    .delete();
}
