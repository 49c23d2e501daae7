import { HEAD, SWEEP_FUNCTIONS } from "./sweeps";

/**
 * Functions that differ if the rows of organizations are distributed. Citus refuses recursion over organizations,
 * locked rows of several organizations, and subqueries that a shared table correlates.
 */
export const FUNCTIONS: readonly string[] = [
  ...SWEEP_FUNCTIONS,
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
        from parley_due_destinations_read() due
      ) one, lateral (values ('delivery_destinations_due', one.destinations), ('delivery_queues_due', one.queues),
        ('delivery_oldest_due_seconds', one.age)) reading (name, value);
      return query select reading.name, null::text, reading.value from (
        select sum(e.events)::float8 as events, coalesce(extract(epoch from now() - min(e.oldest)), 0)::float8 as age
        from parley_unsequenced_read() e
      ) one, lateral (values ('events_unsequenced', one.events), ('events_oldest_unsequenced_seconds', one.age))
        reading (name, value);
      return query select 'live_conversations', c.channel, sum(c.chats)::float8
        from parley_live_conversations_read() c group by 2;
    end $$`,
  // One organization after another.
  `create or replace function parley_keep_facts(most integer) returns integer language plpgsql ${HEAD}
    declare owner text; ids text[]; kept integer := 0;
    begin
      perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
      for owner in select * from parley_unkept_organizations() loop
        select array_agg(ended.id) into ids from (
          select c.id from public.chats c where c.organization_id = owner and not c.counted and c.status = 'ended'
          limit most - kept for update skip locked
        ) ended;
        delete from public.conversation_facts_kept k where k.organization_id = owner and k.chat_id = any(ids);
        delete from public.function_facts_kept k where k.organization_id = owner and k.chat_id = any(ids);
        insert into public.conversation_facts_kept
          select f.organization_id, f.chat_id, f.assistant_id, f.channel, f.started_at, f.ended_reason, f.seconds,
            f.messages, f.questions, f.answers, f.answer_ms, f.answer_times, f.not_known, f.errors, f.no_answer
          from conversation_facts_computed f where f.organization_id = owner and f.chat_id = any(ids);
        insert into public.function_facts_kept
          select f.organization_id, f.chat_id, f.name, f.assistant_id, f.channel, f.started_at, f.calls, f.failed
          from function_facts_computed f where f.organization_id = owner and f.chat_id = any(ids);
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
      -- Locking one needs all workers.
      if not exists (select 1 from public.organizations o where o.recount_facts_after is not null) then return 0; end if;
      select o.id, o.recount_facts_after into owner, place from public.organizations o
        where o.recount_facts_after is not null limit 1 for update;
      if owner is null then return 0; end if;
      select array_agg(next.chat_id order by next.chat_id) into ids from (
        select k.chat_id from public.conversation_facts_kept k
        where k.organization_id = owner and k.chat_id > place order by k.chat_id limit most
      ) next;
      update public.conversation_facts_kept k set seconds = f.seconds, not_known = f.not_known
        from conversation_facts_computed f
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
      for owner in select * from parley_pending_organizations(after_organization) loop
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
