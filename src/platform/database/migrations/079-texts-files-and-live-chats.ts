import type { Knex } from "knex";

const TABLES = ["sms_received", "sms_threads"];

/**
 * A number is disconnected at once, however many texts it has received; a job removes them afterwards. Texts that a
 * server of an older version leaves behind are not shown. They expire, and go with their chats.
 */
export async function up(db: Knex): Promise<void> {
  for (const table of TABLES) await db.raw(`alter table ${table} drop constraint ${keyOf(table)}`);
}

export async function down(db: Knex): Promise<void> {
  for (const table of TABLES) {
    await db.raw(`delete from ${table} t where not exists (select from telephony_connections c
      where c.organization_id = t.organization_id and c.id = t.connection_id)`);
    await db.raw(`alter table ${table} add constraint ${keyOf(table)} foreign key (organization_id, connection_id)
      references telephony_connections (organization_id, id) on delete cascade`);
  }
}

const keyOf = (table: string) => `${table}_organization_id_connection_id_fkey`;
