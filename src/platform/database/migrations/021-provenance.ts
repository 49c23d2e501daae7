import type { Knex } from "knex";

export async function up(db: Knex): Promise<void> {
  // Which of a chat's variables functions and its workflow have set. Null: unknown, as the chat began before.
  await db.raw(`alter table chats add column set_variables jsonb`);
  await db.raw(`alter table chats alter column set_variables set default '{}'`);
  // The end of the last conversation that was signed, or the organization's own; `context` is that of an unsigned one.
  await db.raw(`
    alter table end_users
      add column signed_context text,
      add column signed_context_visitor_id text collate "C"`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`alter table end_users drop column signed_context, drop column signed_context_visitor_id`);
  await db.raw(`alter table chats drop column set_variables`);
}
