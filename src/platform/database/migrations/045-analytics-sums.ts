import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

const OF_CONVERSATION = `
    assistant_id text collate "C" not null,
    channel text not null,
    started_at timestamptz not null`;
const CONVERSATION = `organization_id, chat_id, assistant_id, channel, started_at, ended_reason, seconds, messages,
    questions, answers, answer_ms, answer_times, not_known, errors, no_answer`;
const FUNCTION = `organization_id, chat_id, name, assistant_id, channel, started_at, calls, failed`;
/** Columns of an alias. */
const of = (alias: string, columns: string) => columns.replace(/\w+/g, (name) => `${alias}.${name}`);

/** Numbers of buckets of the histograms, which 009 defines. */
const HISTOGRAMS = { t: 13, m: 8, s: 9 };
const BUCKETS = Object.entries(HISTOGRAMS).flatMap(([name, count]) =>
  Array.from({ length: count }, (_, index) => `${name}${index} integer`),
);

/**
 * Sums of facts. A job moves the facts of a conversation from `…_kept` to `…_summed` and adds them to the sums in one
 * transaction: the sums are those of the rows in `…_summed` at any moment. Older servers know only `…_kept`: their
 * changes of other conversations are seen in `chats.counted`.
 */
export async function up(db: Knex): Promise<void> {
  await summed(db);
  await sums(db);
  await views(db);
  await functions(db);
}

async function summed(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "conversation_facts_summed",
    `
    chat_id text collate "C" not null,
    ${OF_CONVERSATION},
    ended_reason text,
    seconds integer,
    messages integer not null,
    questions integer not null,
    answers integer not null,
    answer_ms bigint not null,
    answer_times integer[] not null,
    not_known integer not null,
    errors integer not null,
    no_answer integer not null`,
    "chat_id",
  );
  await db.raw(
    `create index conversation_facts_summed_time on conversation_facts_summed (organization_id, started_at)`,
  );
  for (const [name, columns] of [
    ["conversation_facts_summed_unanswered", "organization_id, started_at"],
    ["conversation_facts_summed_of_assistant", "organization_id, assistant_id, started_at"],
  ] as const)
    await db.raw(
      `create index ${name} on conversation_facts_summed (${columns}) where not_known + errors + no_answer > 0`,
    );
  await createTenantTable(
    db,
    "function_facts_summed",
    `
    chat_id text collate "C" not null,
    name text not null,
    ${OF_CONVERSATION},
    calls integer not null,
    failed integer not null`,
    "chat_id, name",
  );
  await db.raw(
    `create index function_facts_summed_time on function_facts_summed (organization_id, started_at)`,
  );
}

/** Rows with an empty `assistant_id` add up all assistants. Null stands for 0, because it takes no space. */
async function sums(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "conversation_sums",
    `
    assistant_id text collate "C" not null,
    unit text collate "C" not null check (unit in ('quarter', 'day')),
    starts_at timestamptz not null,
    channel text collate "C" not null,
    conversations integer,
    messages integer,
    seconds bigint,
    questions integer,
    answers integer,
    answer_ms bigint,
    not_known integer,
    errors integer,
    no_answer integer,
    ${BUCKETS.join(", ")}`,
    "assistant_id, unit, starts_at, channel",
  );
  await db.raw(
    `create index conversation_sums_of_assistants on conversation_sums (organization_id, unit, starts_at)
     where assistant_id <> ''`,
  );
  for (const [name, key, counts] of [
    ["end_reason_sums", "reason", "conversations integer not null"],
    ["function_sums", "name", "calls integer not null, failed integer not null"],
  ] as const)
    await createTenantTable(
      db,
      name,
      `
      assistant_id text collate "C" not null,
      starts_at timestamptz not null,
      channel text collate "C" not null,
      ${key} text collate "C" not null,
      ${counts}`,
      `assistant_id, starts_at, channel, ${key}`,
    );
}

/**
 * A summed row is stale while its conversation is to be counted again, or was counted again and not added yet. Then the
 * view of unsummed facts takes it back.
 */
async function views(db: Knex): Promise<void> {
  for (const [kind, columns] of [
    ["conversation", CONVERSATION],
    ["function", FUNCTION],
  ] as const) {
    const facts = `${kind}_facts`;
    const again = (alias: string) => `select from conversation_facts_kept k
      where k.organization_id = ${alias}.organization_id and k.chat_id = ${alias}.chat_id`;
    await db.raw(`
      create view ${facts}_current with (security_invoker = true) as
      select ${of("s", columns)} from ${facts}_summed s
      where not exists (${again("s")})
        and not exists (select from chats c where c.organization_id = s.organization_id and c.id = s.chat_id and not c.counted)`);
    await db.raw(`
      create view ${facts}_unsummed with (security_invoker = true) as
      select 1 as sign, ${columns} from ${facts}_kept
      union all select 1, ${columns} from ${facts}_computed where not counted
      union all select -1, ${of("s", columns)} from conversation_facts_kept k
        join ${facts}_summed s on s.organization_id = k.organization_id and s.chat_id = k.chat_id
      union all select -1, ${of("s", columns)} from chats c
        join ${facts}_summed s on s.organization_id = c.organization_id and s.chat_id = c.id
        where not c.counted and not exists (${again("s")})`);
    await db.raw(`
      create or replace view ${facts} with (security_invoker = true) as
      select ${columns} from ${facts}_kept
      union all select ${columns} from ${facts}_current
      union all select ${columns} from ${facts}_computed where not counted`);
  }
}

async function functions(db: Knex): Promise<void> {
  // Organizations are not known to the job that adds up their facts. Those whose conversations are still measured by
  // the rules of 040 wait, because that changes facts that are not summed only.
  await db.raw(`
    create function parley_unsummed_organizations() returns table (organization_id text)
    language sql security definer set search_path = pg_catalog, public as $$
      with recursive found as (
        (select k.organization_id as id from public.conversation_facts_kept k order by 1 limit 1)
        union all
        select (select k.organization_id from public.conversation_facts_kept k
          where k.organization_id > found.id order by 1 limit 1)
        from found where found.id is not null
      ) select found.id from found join public.organizations o on o.id = found.id
      where o.recount_facts_after is null
    $$`);
}

/** Puts the facts back, those of functions first: they are current only without the conversation's facts. */
export async function down(db: Knex): Promise<void> {
  for (const [kind, columns] of [
    ["function", FUNCTION],
    ["conversation", CONVERSATION],
  ] as const) {
    const facts = `${kind}_facts`;
    await db.raw(`
      create or replace view ${facts} with (security_invoker = true) as
      select ${columns} from ${facts}_kept
      union all select ${columns} from ${facts}_computed where not counted`);
    await db.raw(`drop view ${facts}_unsummed`);
    await db.raw(
      `insert into ${facts}_kept (${columns}) select ${columns} from ${facts}_current on conflict do nothing`,
    );
  }
  for (const kind of ["function", "conversation"]) await db.raw(`drop view ${kind}_facts_current`);
  for (const name of ["function_facts_summed", "conversation_facts_summed"])
    await db.raw(`drop table ${name}`);
  for (const name of ["function_sums", "end_reason_sums", "conversation_sums"])
    await db.raw(`drop table ${name}`);
  await db.raw(`drop function parley_unsummed_organizations()`);
}
