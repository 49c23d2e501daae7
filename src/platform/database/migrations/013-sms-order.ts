import type { Knex } from "knex";

/** Of the texts of one person that wait to be dealt with, whoever deals with one finds those before it. */
export async function up(db: Knex): Promise<void> {
  await db.raw(
    `create index sms_received_undecided on sms_received (organization_id, connection_id, (sms ->> 'from'))
     where outcome is null`,
  );
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index sms_received_undecided`);
}
