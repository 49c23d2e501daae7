import type { Knex } from "knex";

/**
 * A destination is deleted at once, however many deliveries it has; a job removes them afterwards. Deliveries that a
 * server of an older version leaves behind are not shown, and go with their events.
 */
export async function up(db: Knex): Promise<void> {
  for (const table of ["deliveries", "delivery_queues"])
    await db.raw(`alter table ${table} drop constraint ${keyOf(table)}`);
}

export async function down(db: Knex): Promise<void> {
  for (const table of ["deliveries", "delivery_queues"]) {
    await db.raw(`delete from ${table} d where not exists (select from webhook_destinations w
      where w.organization_id = d.organization_id and w.id = d.destination_id)`);
    await db.raw(`alter table ${table} add constraint ${keyOf(table)} foreign key (organization_id, destination_id)
      references webhook_destinations (organization_id, id) on delete cascade`);
  }
}

const keyOf = (table: string) => `${table}_organization_id_destination_id_fkey`;
