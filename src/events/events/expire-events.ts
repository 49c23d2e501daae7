import type { AuditedOperation } from "../../platform/database/tables/audited-operation";
import type { Scope } from "../../platform/database/scope";
import { statement } from "../../platform/database/statement";
import { deleteEvents, lockSums } from "./delivery-sums";

/** Events deleted by one statement; their deliveries are deleted by cascade. */
const BATCH_SIZE = 500;
const MAX_BATCHES = 10;

/**
 * Deletes events older than `days`, with their deliveries. An event with a delivery that is pending or was due within
 * `days`, e.g. after a replay, stays. Reads events by id, which is the order of time except for clock differences
 * between servers, and stops after a batch without old events.
 * @param operation creates the audit operation of each batch
 * @param after id of an event: those up to it stay
 * @returns where the next call goes on; undefined if no more events are left to delete
 */
export async function expireEvents(
  scope: Scope,
  days: number,
  operation: () => AuditedOperation,
  after = "",
): Promise<string | undefined> {
  let last = after;
  for (let round = 0; round < MAX_BATCHES; round++) {
    const rows = await scope.read(OLDEST, [last, days]);
    const old = rows.filter((row) => row.old).map(({ id }) => id);
    if (old.length > 0) {
      const batch = operation();
      await scope
        .audited(batch)
        .transaction(async (scope) => batch.count({ events: await remove(scope, old, days) }));
    }
    if (old.length === 0 || rows.length < BATCH_SIZE) return undefined;
    last = rows.at(-1)!.id;
  }
  return last;
}

const OLDEST = statement<{ id: string; old: boolean }>(({ db }) =>
  db.raw(`
  select id, created_at < now() - $3 * interval '1 day' as old from events
  where events.organization_id = $1 and id > $2 order by id limit ${BATCH_SIZE}`),
);

/** Deletes events that no delivery needs. Whoever is adding a delivery holds its event: the next statement sees it. */
async function remove(scope: Scope, ids: readonly string[], days: number): Promise<number> {
  await lockSums(scope); // before events, like all who delete some
  await scope.table("events").select("id").whereIn("id", ids).orderBy("id").forUpdate();
  const needed = await scope
    .table("deliveries")
    .distinct("eventId")
    .whereIn("eventId", ids)
    .whereIn("destinationId", scope.table("webhook_destinations").select("id")) // those of deleted ones need nothing
    .where((either) =>
      either
        .where({ status: "PENDING" })
        .orWhereRaw("next_attempt_at >= now() - ? * interval '1 day'", [days]),
    );
  const kept = new Set(needed.map(({ eventId }) => eventId));
  return deleteEvents(
    scope,
    ids.filter((id) => !kept.has(id)),
  );
}
