import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

/**
 * Chats whose facts are not kept, each with its measures `l` if they are those of its present messages: every change of
 * a live chat changes a count. Looked up for one chat after another, as PostgreSQL cannot know how many are live.
 */
const UNCOUNTED = `chats c left join lateral (
      select l.* from live_facts l where l.organization_id = c.organization_id and l.chat_id = c.id
        and l.message_count = c.message_count and l.event_count = c.event_count and c.status <> 'ended' limit 1) l on true`;
const ENDED_REASON = `case when c.status = 'ended' then coalesce(c.ended_reason, 'unknown') end`;

/**
 * Columns of the view of a kind of facts, and where they come from: computed from the messages if there are no measures,
 * with a limit, so that PostgreSQL does not compute them before it looks.
 */
const KINDS = {
  conversation: {
    columns: `organization_id, chat_id, assistant_id, channel, started_at, ended_reason, seconds, messages,
    questions, answers, answer_ms, answer_times, not_known, errors, no_answer`,
    uncounted: `select 1, c.organization_id, c.id, c.assistant_id, c.channel, c.started_at, ${ENDED_REASON}, f.seconds,
      coalesce(l.messages, f.messages), coalesce(l.questions, f.questions), coalesce(l.answers, f.answers),
      coalesce(l.answer_ms, f.answer_ms), coalesce(l.answer_times, f.answer_times),
      coalesce(l.not_known, f.not_known), coalesce(l.errors, f.errors), coalesce(f.no_answer, 0)
      from ${UNCOUNTED} left join lateral (
        select f.* from conversation_facts_computed f
        where l.chat_id is null and f.organization_id = c.organization_id and f.chat_id = c.id
        limit 1) f on true
      where not c.counted`,
  },
  function: {
    columns: `organization_id, chat_id, name, assistant_id, channel, started_at, calls, failed`,
    uncounted: `select 1, c.organization_id, c.id, done.name, c.assistant_id, c.channel, c.started_at, done.calls, done.failed
      from ${UNCOUNTED} cross join lateral (
        select m.name, m.calls, m.failed from jsonb_to_recordset(l.functions) m (name text, calls integer, failed integer)
        union all
        select f.name, f.calls, f.failed from function_facts_computed f
        where l.chat_id is null and f.organization_id = c.organization_id and f.chat_id = c.id) done
      where not c.counted`,
  },
};

/** Columns of an alias. */
const of = (alias: string, columns: string) => columns.replace(/\w+/g, (name) => `${alias}.${name}`);

/**
 * Measures of live chats, so that statistics do not read all their messages each time. A job stores them with the counts
 * of the chat; they hold until one of the counts changes. There is no foreign key, which a new table cannot have to a
 * distributed one: the job removes those of chats that have ended or are gone.
 */
export async function up(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "live_facts",
    `
    chat_id text collate "C" not null,
    message_count integer not null,
    event_count integer not null,
    messages integer not null,
    questions integer not null,
    answers integer not null,
    answer_ms bigint not null,
    answer_times integer[] not null,
    not_known integer not null,
    errors integer not null,
    functions jsonb not null`,
    "chat_id",
  );
  for (const [kind, { columns, uncounted }] of Object.entries(KINDS))
    await replaceUnsummed(db, kind, columns, uncounted);
  await db.raw(`
    create function parley_unmeasured_chats() returns table (organization_id text)
    language sql security definer set search_path = pg_catalog, public as $$
      select c.organization_id from public.chats c where not c.counted and c.status <> 'ended' and (
        select true from public.live_facts l where l.organization_id = c.organization_id and l.chat_id = c.id
          and l.message_count = c.message_count and l.event_count = c.event_count) is null
      union select l.organization_id from public.live_facts l where coalesce((
        select c.counted or c.status = 'ended' from public.chats c
        where c.organization_id = l.organization_id and c.id = l.chat_id), true)
    $$`);
}

/** The view of 045, with another part for the conversations that are not counted yet. */
async function replaceUnsummed(db: Knex, kind: string, columns: string, uncounted: string): Promise<void> {
  const facts = `${kind}_facts`;
  await db.raw(`
    create or replace view ${facts}_unsummed with (security_invoker = true) as
    select 1 as sign, ${columns} from ${facts}_kept
    union all ${uncounted}
    union all select -1, ${of("s", columns)} from conversation_facts_kept k
      join ${facts}_summed s on s.organization_id = k.organization_id and s.chat_id = k.chat_id
    union all select -1, ${of("s", columns)} from chats c
      join ${facts}_summed s on s.organization_id = c.organization_id and s.chat_id = c.id
      where not c.counted and not exists (select from conversation_facts_kept k
        where k.organization_id = c.organization_id and k.chat_id = c.id)`);
}

export async function down(db: Knex): Promise<void> {
  for (const [kind, { columns }] of Object.entries(KINDS))
    await replaceUnsummed(
      db,
      kind,
      columns,
      `select 1, ${columns} from ${kind}_facts_computed where not counted`,
    );
  await db.raw(`drop function parley_unmeasured_chats()`);
  await db.raw(`drop table live_facts`);
}
