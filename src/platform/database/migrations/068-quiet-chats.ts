import type { Knex } from "knex";
import type { OnlineStep } from "./online-step";

/**
 * Finds chats in which nothing is said without an index of the last message, which each message changed: PostgreSQL then
 * adds a row to every index of `chats`. `quiet_from` is at or before the last message. A job compares both when it is
 * some time ago, and moves it.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table chats add column quiet_from timestamptz not null default '-infinity'`);
  await db.raw(`alter table chats alter column quiet_from set default now()`);
  await db.raw(`
    create function parley_quiet_chats(idle_since timestamptz)
    returns table (organization_id text, chat_id text, is_idle boolean)
    language sql security definer set search_path = pg_catalog, public as $$
      select c.organization_id, c.id, c.last_message_at < idle_since from public.chats c
      where c.status = 'in-progress' and c.quiet_from < idle_since and not exists (
        select 1 from public.calls k where k.organization_id = c.organization_id and k.chat_id = c.id and k.engine <> 'page')
      limit 500
    $$`);
}

export const online: readonly OnlineStep[] = [
  {
    kind: "index",
    name: "chats_quiet",
    table: "chats",
    columns: "(quiet_from) where status = 'in-progress'",
  },
  {
    kind: "backfill",
    name: "without_chats_idle",
    table: "chats",
    batch: async (db) => {
      // Everything that reads chats waits behind this while an older transaction reads them.
      await db.raw(`set local lock_timeout = '2s'`);
      await db.raw(`drop index if exists chats_idle`);
      return null;
    },
  },
];

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_quiet_chats(timestamptz)`);
  await db.raw(`drop index if exists chats_quiet`);
  await db.raw(
    `create index if not exists chats_idle on chats (last_message_at) where status = 'in-progress'`,
  );
  await db.raw(`alter table chats drop column quiet_from`);
}
