const HEAD = `security definer set search_path = pg_catalog, public as $$
    #variable_conflict use_column`;

/** A function that returns rows. Citus plans statements with parameters only in PL/pgSQL. */
const rows = (signature: string, columns: string, query: string): string => `
  create or replace function ${signature} returns table (${columns}) language plpgsql ${HEAD}
    begin
      return query ${query};
    end $$`;

/**
 * Functions that differ if the rows of organizations are distributed. Citus refuses recursion over organizations,
 * locked rows of several organizations, and subqueries that a shared table correlates.
 */
export const FUNCTIONS: readonly string[] = [
  rows(
    "parley_due_queues()",
    "organization_id text, destination_id text",
    `select d.organization_id, d.id from public.webhook_destinations d where exists (
      select 1 from public.delivery_queues q where q.organization_id = d.organization_id
        and q.destination_id = d.id and q.due_at <= now())`,
  ),
  rows(
    "parley_expired_texts(before timestamptz)",
    "organization_id text",
    `select r.organization_id from public.sms_received r where r.created_at < before
     union select s.organization_id from public.sms_sent s where s.created_at < before`,
  ),
  rows(
    "parley_idle_chats(idle_since timestamptz)",
    "organization_id text, chat_id text",
    `select c.organization_id, c.id from public.chats c
     where c.status = 'in-progress' and c.last_message_at < idle_since and not exists (
       select 1 from public.calls k
       where k.organization_id = c.organization_id and k.chat_id = c.id and k.engine <> 'page') limit 500`,
  ),
  rows(
    "parley_uncounted_organizations()",
    "organization_id text",
    `select c.organization_id from public.log_changes c
     union select b.organization_id from public.log_blocks b where b.logs is null or b.logs > 4000`,
  ),
  rows(
    "parley_unfinished_erasures(silence interval)",
    "organization_id text, erasure_id text",
    `select e.organization_id, e.id from public.erasures e
     where e.status <> 'DONE' and e.worked_at < now() - silence`,
  ),
  rows(
    "parley_unmeasured(large bigint)",
    "organization_id text",
    `with known as materialized (select s.* from public.stored_sizes s)
     select o.id from public.organizations o left join known s on s.organization_id = o.id
     where s.measured_at is null or s.walk is not null
       or s.measured_at < now() - case when s.bytes >= large then interval '4 minutes' else interval '55 minutes' end
     order by s.measured_at nulls first`,
  ),
  rows(
    "parley_unplaced_events()",
    "organization_id text",
    `select distinct a.organization_id from public.assistants a where exists (
      select 1 from public.events e where e.organization_id = a.organization_id and e.transaction is null)`,
  ),
  rows(
    "parley_unsummed_organizations()",
    "organization_id text",
    `select distinct k.organization_id from public.conversation_facts_kept k
     join public.organizations o on o.id = k.organization_id where o.recount_facts_after is null`,
  ),
  rows(
    "parley_busiest_organizations(most integer)",
    "organization_id text, per_second double precision",
    `select e.organization_id, count(*) / 3600::float8 from public.events e
     where e.created_at > now() - interval '1 hour' group by 1 order by 2 desc, 1 limit most`,
  ),
  `create or replace function parley_readings() returns table (name text, label text, value double precision)
    language plpgsql stable ${HEAD}
    begin
      return query select reading.name, j.task_identifier, reading.value from (
        select due.task_identifier, count(*)::float8 as jobs, extract(epoch from now() - min(due.run_at))::float8 as age
        from (
          select j.task_identifier, j.run_at from graphile_worker.jobs j
          where j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= now() limit 10000
        ) due group by 1
      ) j, lateral (values ('jobs_waiting', j.jobs), ('jobs_oldest_waiting_seconds', j.age)) reading (name, value);
      return query select reading.name, null::text, reading.value from (
        select count(*)::float8 as destinations, coalesce(sum(due.queues), 0)::float8 as queues,
          coalesce(extract(epoch from now() - min(due.oldest)), 0)::float8 as age
        from (
          select q.organization_id, q.destination_id, count(*) as queues, min(q.due_at) as oldest
          from public.delivery_queues q where q.due_at <= now() group by 1, 2
        ) due
      ) one, lateral (values ('delivery_destinations_due', one.destinations), ('delivery_queues_due', one.queues),
        ('delivery_oldest_due_seconds', one.age)) reading (name, value);
      return query select reading.name, null::text, reading.value from (
        select count(*)::float8 as events, coalesce(extract(epoch from now() - min(e.created_at)), 0)::float8 as age
        from public.events e where e.transaction is null and e.created_at > now() - interval '1 day'
      ) one, lateral (values ('events_unsequenced', one.events), ('events_oldest_unsequenced_seconds', one.age))
        reading (name, value);
      return query select 'live_conversations', c.channel, count(*)::float8 from public.chats c
        where c.status <> 'ended' group by 2;
    end $$`,
  // One organization after another.
  `create or replace function parley_keep_facts(most integer) returns integer language plpgsql ${HEAD}
    declare owner text; ids text[]; kept integer := 0;
    begin
      perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
      for owner in select distinct c.organization_id from public.chats c where not c.counted and c.status = 'ended' loop
        select array_agg(ended.id) into ids from (
          select c.id from public.chats c where c.organization_id = owner and not c.counted and c.status = 'ended'
          limit most - kept for update skip locked
        ) ended;
        insert into public.conversation_facts_kept
          select f.organization_id, f.chat_id, f.assistant_id, f.channel, f.started_at, f.ended_reason, f.seconds,
            f.messages, f.questions, f.answers, f.answer_ms, f.answer_times, f.not_known, f.errors, f.no_answer
          from public.conversation_facts_computed f where f.organization_id = owner and f.chat_id = any(ids);
        insert into public.function_facts_kept
          select f.organization_id, f.chat_id, f.name, f.assistant_id, f.channel, f.started_at, f.calls, f.failed
          from public.function_facts_computed f where f.organization_id = owner and f.chat_id = any(ids);
        update public.chats c set counted = true where c.organization_id = owner and c.id = any(ids);
        kept := kept + coalesce(cardinality(ids), 0);
        exit when kept >= most;
      end loop;
      return kept;
    end $$`,
  `create or replace function parley_recount_facts(most integer) returns integer language plpgsql ${HEAD}
    declare owner text; place text; last text; ids text[];
    begin
      perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
      select o.id, o.recount_facts_after into owner, place from public.organizations o
        where o.recount_facts_after is not null limit 1 for update;
      if owner is null then return 0; end if;
      select array_agg(next.chat_id order by next.chat_id) into ids from (
        select k.chat_id from public.conversation_facts_kept k
        where k.organization_id = owner and k.chat_id > place order by k.chat_id limit most
      ) next;
      update public.conversation_facts_kept k set seconds = f.seconds, not_known = f.not_known
        from public.conversation_facts_computed f
        where k.organization_id = owner and k.chat_id = any(ids) and f.organization_id = owner and f.chat_id = k.chat_id
          and f.messages = k.messages and f.questions = k.questions;
      last := ids[cardinality(ids)]; -- in the statement, the element would crash PostgreSQL
      update public.organizations o set recount_facts_after = last where o.id = owner;
      return most;
    end $$`,
  // One organization at a time: the first with pending deliveries after the given one.
  `create or replace function parley_repair_queues(after_organization text, after_destination text, after_event text,
      after_id text, most integer)
    returns table (organization_id text, destination_id text, event_id text, delivery_id text, repaired integer)
    language plpgsql ${HEAD}
    declare owner text; wanted record; last record; added integer := 0;
    begin
      for owner in select o.id from public.organizations o where o.id >= after_organization order by o.id loop
        for wanted in select s.destination_id, s.chat_id, s.delivery_id, min(s.next_attempt_at) as due_at from (
          select d.destination_id, d.next_attempt_at,
            case when d.attempts = '[]' then coalesce(d.chat_id, '') else '' end as chat_id,
            case when d.attempts = '[]' and d.chat_id is not null then '' else d.id end as delivery_id
          from public.deliveries d
          where d.organization_id = owner and d.status = 'PENDING' and (owner > after_organization
            or (d.destination_id, d.event_id, d.id) > (after_destination, after_event, after_id))
          order by d.destination_id, d.event_id, d.id limit most
        ) s group by 1, 2, 3 order by 1, 2, 3 loop
          continue when exists (
            select 1 from public.delivery_queues q where q.organization_id = owner
              and q.destination_id = wanted.destination_id and q.chat_id = wanted.chat_id
              and q.delivery_id = wanted.delivery_id
              and (q.claim is not null or q.due_at <= greatest(wanted.due_at, now())));
          insert into public.delivery_queues (organization_id, destination_id, chat_id, delivery_id, due_at)
            values (owner, wanted.destination_id, wanted.chat_id, wanted.delivery_id, wanted.due_at)
            on conflict (organization_id, destination_id, chat_id, delivery_id) do update
              set posted = delivery_queues.posted + 1,
                due_at = case when delivery_queues.claim is null then excluded.due_at else delivery_queues.due_at end;
          added := added + 1;
        end loop;
        select looked.* into last from (
          select d.destination_id, d.event_id, d.id from public.deliveries d
          where d.organization_id = owner and d.status = 'PENDING' and (owner > after_organization
            or (d.destination_id, d.event_id, d.id) > (after_destination, after_event, after_id))
          order by 1, 2, 3 limit most
        ) looked order by 1 desc, 2 desc, 3 desc limit 1;
        if last.id is not null then
          return query select owner, last.destination_id, last.event_id, last.id, added;
          return;
        end if;
      end loop;
    end $$`,
];
