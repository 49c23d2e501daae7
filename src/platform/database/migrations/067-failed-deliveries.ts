import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";

/** Drops an index by which only servers from before there were queues look for due deliveries; they use another one now. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`drop index deliveries_waiting`);
}

/** Finds the deliveries of a destination that failed or wait without reading those that were made. */
export const online: readonly OnlineStep[] = [
  {
    kind: "index",
    name: "deliveries_unmade",
    table: "deliveries",
    columns: "(organization_id, destination_id, status, id) where status <> 'DELIVERED'",
  },
];

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index if exists deliveries_unmade`);
  await db.raw(`create index deliveries_waiting on deliveries (next_attempt_at) where status = 'PENDING'`);
}
