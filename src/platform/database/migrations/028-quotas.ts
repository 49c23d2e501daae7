import type { Knex } from "knex";

/** Indexes by which quotas are checked: the live chats of an organization, and the sizes of its files. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`create index chats_live on chats (organization_id) where status <> 'ended'`);
  await db.raw(`create index files_size on files (organization_id) include (size)`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index chats_live, files_size`);
}
