import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

/** In milliseconds, each the end of a bucket of answer times and the beginning of the next; the last one is open. */
const ANSWER_BOUNDS = [250, 500, 1000, 2000, 3000, 5000, 8000, 13000, 20000, 30000, 60000, 120000];
const BUCKETS = ANSWER_BOUNDS.map((_, index) => index).concat(ANSWER_BOUNDS.length);

/** What an assistant says that does not know: in English, German, French, Spanish, Italian, Portuguese and Dutch. */
const NOT_KNOWN = [
  `i (do not|don.t) know|i (do not|don.t) have ((that|this|the|any|enough|more|specific) )*(information|details|data|access)`,
  `i( a|.)m (not sure|unable to|not able to (answer|find|help))`,
  `i (could not|couldn.t|can.t|cannot) (find|answer|help (you )?with)`,
  `(das )?weiß ich (leider )?nicht|ich weiß (es |das )?(leider )?nicht|(habe|liegen mir) (ich )?(dazu )?(leider )?keine informationen`,
  `je ne sais pas|je n.ai pas (d.|l.)information`,
  `no lo sé|no tengo (esa |ninguna )?información`,
  `non lo so|non ho informazioni`,
  `não sei|não tenho (essa )?informaç`,
  `dat weet ik (helaas )?niet|ik weet het (helaas )?niet`,
].join("|");

const OF_CONVERSATION = `
    assistant_id text collate "C" not null,
    channel text not null,
    started_at timestamptz not null`;
const OF_CHAT = `foreign key (organization_id, chat_id) references chats (organization_id, id) on delete cascade`;

/** What came of a function that was called, before failures were noted on the message with the answer. */
const FAILED_BEFORE = `^(The arguments are wrong: |Nobody answers .*: it has no server\\.|The function could not be called: |The function answered with status |There is no function |The function.s (answer is (too long|not JSON)|parameters are no JSON Schema))`;

export async function up(db: Knex): Promise<void> {
  await db.raw(`set local statement_timeout = 0`);
  // Facts of an ended chat never change: a job keeps them in a narrow row, and says so here in the same transaction.
  await db.raw(`alter table chats add column counted boolean not null default false`);
  await db.raw(`create index chats_uncounted on chats (organization_id, started_at) where not counted`);
  await db.raw(
    `update messages set metadata = metadata || '{"failed": true}'
     where role = 'TOOL' and tool_call_id is not null and content ~ '${FAILED_BEFORE}'`,
  );
  await questions(db);
  await conversations(db);
  await functions(db);
  await keep(db);
  await deliveries(db);
}

/** What a person said, and what came of it: the assistant's next words, as long as the chat has not ended without. */
async function questions(db: Knex): Promise<void> {
  const statement = `
    create view question_outcomes with (security_invoker = true) as
    select m.organization_id, m.id, m.chat_id, c.assistant_id, c.channel, c.started_at,
      m.content as question, m.created_at as asked_at, answer.content as answer,
      case when answer.content is not null
        then greatest(0, round(extract(epoch from answer.created_at - m.created_at) * 1000))::bigint end as answer_ms,
      case when answer.content is null then case when c.status = 'ended' then 'NO_ANSWER' end
        when answer.metadata @> '{"error": true}' then 'ERROR'
        when answer.content ~* $$${NOT_KNOWN}$$ then 'NOT_KNOWN'
        else 'ANSWERED' end as outcome
    from messages m
    join chats c on c.organization_id = m.organization_id and c.id = m.chat_id
    left join lateral (
      select a.content, a.metadata, a.created_at from messages a
      where a.organization_id = m.organization_id and a.chat_id = m.chat_id and a.sequence > m.sequence
        and a.role = 'ASSISTANT' and a.content <> ''
      order by a.sequence limit 1
    ) answer on true
    where m.role = 'USER' and m.content <> ''`;
  await db.raw(statement.replaceAll("?", "\\?")); // Knex takes a bare one for a place to fill
}

async function conversations(db: Knex): Promise<void> {
  const FACTS = `organization_id, chat_id, assistant_id, channel, started_at, ended_reason, seconds, messages,
      questions, answers, answer_ms, answer_times, not_known, errors, no_answer`;
  await createTenantTable(
    db,
    "conversation_facts_kept",
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
    no_answer integer not null,
    ${OF_CHAT}`,
    "chat_id",
  );
  await db.raw(
    `create index conversation_facts_time on conversation_facts_kept (organization_id, started_at)`,
  );
  await db.raw(
    `create index conversation_facts_unanswered on conversation_facts_kept (organization_id, started_at)
     where not_known + errors + no_answer > 0`,
  );
  const times = BUCKETS.map(
    (bucket) => `count(*) filter (where width_bucket(timed.ms, bounds.list) = ${bucket})::integer`,
  );
  await db.raw(`
    create view conversation_facts_computed with (security_invoker = true) as
    select c.organization_id, c.id as chat_id, c.assistant_id, c.channel, c.started_at,
      case when c.status = 'ended' then coalesce(c.ended_reason, 'unknown') end as ended_reason,
      case when c.ended_at is not null
        then greatest(0, round(extract(epoch from c.ended_at - c.started_at)))::integer end as seconds,
      said.messages, asked.questions, asked.answers, asked.answer_ms, asked.answer_times,
      asked.not_known, asked.errors, asked.no_answer, c.counted
    from chats c
    cross join lateral (
      select count(*)::integer as messages from messages m
      where m.organization_id = c.organization_id and m.chat_id = c.id
        and m.role in ('USER', 'ASSISTANT') and m.content <> ''
    ) said
    cross join lateral (
      select count(*)::integer as questions, count(timed.ms)::integer as answers,
        coalesce(sum(timed.ms), 0)::bigint as answer_ms, array[${times.join(", ")}] as answer_times,
        count(*) filter (where q.outcome = 'NOT_KNOWN')::integer as not_known,
        count(*) filter (where q.outcome = 'ERROR')::integer as errors,
        count(*) filter (where q.outcome = 'NO_ANSWER')::integer as no_answer
      from question_outcomes q
      cross join lateral (select case when q.outcome <> 'ERROR' then q.answer_ms end as ms) timed
      cross join (select array[${ANSWER_BOUNDS.join(", ")}]::bigint[] as list) bounds
      where q.organization_id = c.organization_id and q.chat_id = c.id
    ) asked`);
  await db.raw(`
    create view conversation_facts with (security_invoker = true) as
    select ${FACTS} from conversation_facts_kept
    union all select ${FACTS} from conversation_facts_computed where not counted`);
}

async function functions(db: Knex): Promise<void> {
  const FACTS = `organization_id, chat_id, name, assistant_id, channel, started_at, calls, failed`;
  await createTenantTable(
    db,
    "function_facts_kept",
    `
    chat_id text collate "C" not null,
    name text not null,
    ${OF_CONVERSATION},
    calls integer not null,
    failed integer not null,
    ${OF_CHAT}`,
    "chat_id, name",
  );
  await db.raw(`create index function_facts_time on function_facts_kept (organization_id, started_at)`);
  // What moves a workflow on looks like a function to a model, and is none.
  await db.raw(`
    create view function_facts_computed with (security_invoker = true) as
    select c.organization_id, c.id as chat_id, done.name, c.assistant_id, c.channel, c.started_at,
      done.calls, done.failed, c.counted
    from chats c
    cross join lateral (
      select call.value ->> 'name' as name, count(*)::integer as calls,
        count(*) filter (where answer.metadata @> '{"failed": true}')::integer as failed
      from messages m
      cross join lateral json_array_elements(m.tool_calls) call
      join messages answer on answer.organization_id = m.organization_id and answer.chat_id = m.chat_id
        and answer.role = 'TOOL' and answer.tool_call_id = call.value ->> 'id'
        and not answer.metadata @> '{"transition": true}' and not answer.metadata @> '{"skipped": true}'
      where m.organization_id = c.organization_id and m.chat_id = c.id and m.role = 'ASSISTANT'
        and json_typeof(m.tool_calls) = 'array' and call.value ->> 'name' is not null
      group by 1
    ) done`);
  await db.raw(`
    create view function_facts with (security_invoker = true) as
    select ${FACTS} from function_facts_kept
    union all select ${FACTS} from function_facts_computed where not counted`);
}

/** Organizations are not known to who calls it. */
async function keep(db: Knex): Promise<void> {
  await db.raw(`
    create function parley_keep_facts(most integer) returns integer
    language plpgsql security definer set search_path = pg_catalog, public as $$
    declare owners text[]; ids text[];
    begin
      select array_agg(ended.organization_id), array_agg(ended.id) into owners, ids from (
        select c.organization_id, c.id from public.chats c where not c.counted and c.status = 'ended'
        limit most for update skip locked
      ) ended;
      insert into public.conversation_facts_kept
        select f.organization_id, f.chat_id, f.assistant_id, f.channel, f.started_at, f.ended_reason, f.seconds,
          f.messages, f.questions, f.answers, f.answer_ms, f.answer_times, f.not_known, f.errors, f.no_answer
        from unnest(owners, ids) ended (organization_id, id)
        join public.conversation_facts_computed f on f.organization_id = ended.organization_id and f.chat_id = ended.id;
      insert into public.function_facts_kept
        select f.organization_id, f.chat_id, f.name, f.assistant_id, f.channel, f.started_at, f.calls, f.failed
        from unnest(owners, ids) ended (organization_id, id)
        join public.function_facts_computed f on f.organization_id = ended.organization_id and f.chat_id = ended.id;
      update public.chats c set counted = true from unnest(owners, ids) ended (organization_id, id)
        where c.organization_id = ended.organization_id and c.id = ended.id;
      return coalesce(cardinality(ids), 0);
    end $$`);
}

async function deliveries(db: Knex): Promise<void> {
  await db.raw(`alter table deliveries add column duration_ms integer`);
  await db.raw(
    `update deliveries set duration_ms = (attempts -> -1 ->> 'durationMs')::integer where status = 'DELIVERED'`,
  );
  await db.raw(
    `create index deliveries_created on deliveries (organization_id, created_at)
     include (destination_id, status, attempt, duration_ms)`,
  );
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop index deliveries_created`);
  await db.raw(`alter table deliveries drop column duration_ms`);
  await db.raw(`drop function parley_keep_facts(integer)`);
  for (const name of ["function_facts", "function_facts_computed", "conversation_facts"])
    await db.raw(`drop view ${name}`);
  for (const name of ["conversation_facts_computed", "question_outcomes"]) await db.raw(`drop view ${name}`);
  for (const name of ["function_facts_kept", "conversation_facts_kept"]) await db.raw(`drop table ${name}`);
  await db.raw(`drop index chats_uncounted`);
  await db.raw(`alter table chats drop column counted`);
}
