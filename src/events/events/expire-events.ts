import type { AuditedOperation } from "../../platform/database/audited-operation";
import type { Build, Scope } from "../../platform/database/scope";

/** Of one statement, which the deliveries of the events go with. */
const BATCH = 500;
const ROUNDS = 10;

/**
 * Deletes what happened longer ago than `days`, with its deliveries. What was sent again since then stays as long. Ids
 * are walked from the oldest on, as they are in the order of time but for what clocks differ: one batch in which nothing
 * is old ends the walk.
 * @param operation makes the operation that records each batch in the audit log
 * @returns whether there is more
 */
export async function expireEvents(
  scope: Scope,
  days: number,
  operation: () => AuditedOperation,
): Promise<boolean> {
  let last = "";
  for (let round = 0; round < ROUNDS; round++) {
    const rows = await scope.named<{ id: string; old: boolean }>("events.oldest", oldest, [last, days]);
    const old = rows.filter((row) => row.old).map(({ id }) => id);
    if (old.length > 0) {
      const batch = operation();
      await scope
        .audited(batch)
        .transaction(async (scope) => batch.count({ events: await remove(scope, old, days) }));
    }
    if (old.length === 0 || rows.length < BATCH) return false;
    last = rows.at(-1)!.id;
  }
  return true;
}

const oldest: Build = (_table, _$, db) =>
  db.raw(`
  select id, created_at < now() - $3 * interval '1 day' as old from events
  where events.organization_id = $1 and id > $2 order by id limit ${BATCH}`);

async function remove(scope: Scope, ids: readonly string[], days: number): Promise<number> {
  const wanted = scope
    .table("deliveries")
    .select("eventId")
    .whereIn("eventId", ids)
    .where((either) =>
      either
        .where({ status: "PENDING" })
        .orWhereRaw("next_attempt_at >= now() - ? * interval '1 day'", [days]),
    );
  return await scope.table("events").whereIn("id", ids).whereNotIn("id", wanted).delete();
}
