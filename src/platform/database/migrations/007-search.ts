import type { Knex } from "knex";

/** All that is known of a chat beside what was said in it. The search in logs asks for exactly this expression. */
const ABOUT = `(coalesce(label, phone_number, first_words, '') || ' ' || coalesce(user_name, '') || ' ' || coalesce(user_id, '')
  || ' ' || coalesce(anonymous_id, '') || ' ' || coalesce(external_id, '') || ' ' || coalesce(nullif(metadata, '{}')::text, ''))`;

export async function up(db: Knex): Promise<void> {
  // Trusted extensions: whoever may create things in the database may create them.
  await db.raw(`create extension if not exists pg_trgm`);
  await db.raw(`create extension if not exists btree_gin`);
  await db.raw(`alter table messages add column assistant_id text collate "C"`);
  await db.raw(`
    update messages m set assistant_id = c.assistant_id from chats c
    where c.organization_id = m.organization_id and c.id = m.chat_id`);
  await db.raw(`alter table messages alter column assistant_id set not null`);
  // A short list of what is not sorted in yet: each search reads it whole.
  await db.raw(`
    create index messages_search on messages using gin (organization_id, assistant_id, content gin_trgm_ops)
    with (gin_pending_list_limit = 256)`);
  await db.raw(`
    create index chats_search on chats using gin (organization_id, assistant_id, ${ABOUT} gin_trgm_ops)
    with (gin_pending_list_limit = 256)`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index chats_search`);
  await db.raw(`drop index messages_search`);
  await db.raw(`alter table messages drop column assistant_id`);
  await db.raw(`drop extension if exists btree_gin`);
  await db.raw(`drop extension if exists pg_trgm`);
}
