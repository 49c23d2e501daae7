import type { Knex } from "knex";

export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table theme_configurations add column allowed_origins jsonb not null default '[]'`);
  // Whose chat it is, and whether who said so for the person had the right to: an organization has, a page's visitor
  // has it by a signature.
  await db.raw(`
    alter table chats
      add column visitor_id text collate "C",
      add column identity_proven boolean not null default true`);
  await db.raw(
    `create index chats_visitor on chats (organization_id, visitor_id, id) where visitor_id is not null`,
  );
  await db.raw(`alter table end_users add column context_visitor_id text collate "C"`);
  // A page's own id of a message: sent again, it is stored once.
  await db.raw(`alter table messages add column client_id text collate "C"`);
  await db.raw(
    `create unique index messages_client on messages (organization_id, chat_id, client_id) where client_id is not null`,
  );
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index messages_client`);
  await db.raw(`alter table messages drop column client_id`);
  await db.raw(`alter table end_users drop column context_visitor_id`);
  await db.raw(`drop index chats_visitor`);
  await db.raw(`alter table chats drop column visitor_id, drop column identity_proven`);
  await db.raw(`alter table theme_configurations drop column allowed_origins`);
}
