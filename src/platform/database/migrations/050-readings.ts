import type { Knex } from "knex";

/** Largest number of rows of a kind that a reading counts, so that a backlog does not slow it down. */
const MOST = 10_000;
/** The same for one destination of webhooks, and for the events of one organization. */
const MOST_PER_DESTINATION = 100;
const MOST_PER_ORGANIZATION = 1_000;

/**
 * What `/metrics` shows of the database. The serving role sees one organization at a time, and no jobs, so functions of
 * the owner read both. No part of them reads a large table: each goes by an index, and stops at a limit.
 */
export async function up(db: Knex): Promise<void> {
  // plpgsql, because the tables of jobs are created after the migrations.
  await db.raw(`
    create function parley_readings() returns table (name text, label text, value double precision)
    language plpgsql stable security definer set search_path = pg_catalog, public as $$
    begin
      return query ${JOBS};
      return query ${DELIVERIES};
      return query ${EVENTS};
      return query
        select 'live_conversations', live.channel, count(*)::float8
        from (select c.channel from public.chats c where c.status <> 'ended' limit ${MOST * 10}) live group by 2;
    end $$`);
  await db.raw(BUSIEST);
}

/** In the order of the index of available jobs, the oldest of them come first. */
const JOBS = `
  with due as (
    select t.identifier as task, j.run_at from (
      select a.task_id, a.run_at from graphile_worker._private_jobs a
      where a.is_available = true and a.run_at <= now() order by a.priority, a.run_at limit ${MOST}
    ) j join graphile_worker._private_tasks t on t.id = j.task_id
  )
  select 'jobs_waiting', due.task, count(*)::float8 from due group by 2
  union all
  select 'jobs_oldest_waiting_seconds', due.task, extract(epoch from now() - min(due.run_at))::float8 from due group by 2`;

/** Jumps from destination to destination, like parley_due_queues. */
const DELIVERIES = `
  with recursive each as (
    (select q.organization_id, q.destination_id from public.delivery_queues q order by 1, 2 limit 1)
    union all
    select further.organization_id, further.destination_id from each cross join lateral (
      select q.organization_id, q.destination_id from public.delivery_queues q
      where (q.organization_id, q.destination_id) > (each.organization_id, each.destination_id)
      order by 1, 2 limit 1
    ) further
  ), due as (
    select found.queues, found.oldest from each cross join lateral (
      select count(*) as queues, min(waiting.due_at) as oldest from (
        select q.due_at from public.delivery_queues q
        where q.organization_id = each.organization_id and q.destination_id = each.destination_id and q.due_at <= now()
        order by q.due_at limit ${MOST_PER_DESTINATION}
      ) waiting
    ) found where found.queues > 0
  )
  select reading.name, null::text, reading.value from (
    select count(*)::float8 as destinations, coalesce(sum(due.queues), 0)::float8 as queues,
      coalesce(extract(epoch from now() - min(due.oldest)), 0)::float8 as age from due
  ) one, lateral (values ('delivery_destinations_due', destinations), ('delivery_queues_due', queues),
    ('delivery_oldest_due_seconds', age)) reading (name, value)`;

/** In the order of the index that the sequencer uses too. Ids sort by time, so the oldest come first. */
const EVENTS = `
  with unplaced as (
    select e.created_at from public.organizations o cross join lateral (
      select e.created_at from public.events e where e.organization_id = o.id and e.transaction is null
      order by e.transaction, e.id limit ${MOST_PER_ORGANIZATION}
    ) e limit ${MOST}
  )
  select reading.name, null::text, reading.value from (
    select count(*)::float8 as events, coalesce(extract(epoch from now() - min(unplaced.created_at)), 0)::float8 as age
    from unplaced
  ) one, lateral (values ('events_unsequenced', events), ('events_oldest_unsequenced_seconds', age)) reading (name, value)`;

/**
 * Events per second of the organizations with the most of them: those of the last hour, or the newest ones, if an hour
 * has more.
 */
const BUSIEST = `
  create function parley_busiest_organizations(most integer) returns table (organization_id text, per_second double precision)
  language sql stable security definer set search_path = pg_catalog, public as $$
    with newest as (
      select e.organization_id, e.created_at from public.events e
      where e.created_at > now() - interval '1 hour' order by e.created_at desc limit ${MOST}
    ), span as (
      select case when count(*) < ${MOST} then 3600
        else greatest(extract(epoch from now() - min(n.created_at)), 1) end::float8 as seconds from newest n
    )
    select n.organization_id, count(*) / max(span.seconds) from newest n, span group by 1 order by 2 desc, 1 limit most
  $$`;

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_busiest_organizations(integer)`);
  await db.raw(`drop function parley_readings()`);
}
