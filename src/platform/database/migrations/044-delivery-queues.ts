import type { Knex } from "knex";
import { createTenantTable } from "./tenant-table";

/**
 * A row per queue with pending deliveries: those of a conversation to one destination, or a single delivery, which
 * waits for no other: a retry, or one without a conversation. A worker finds due queues here, however many deliveries
 * wait. What may be sent, and by whom, is decided by the deliveries alone, so that servers of older versions, which do
 * not know the queues, may run at the same time; `parley_repair_queues` adds the queues of what they store.
 *
 * - `due_at`: time from which a worker may take the queue; while one has it, the time at which its claim expires.
 * - `claim`: the worker's claim; null while nobody has the queue.
 * - `posted`: counts additions, so that a worker that finds nothing left does not remove what was added meanwhile.
 */
export async function up(db: Knex): Promise<void> {
  await createTenantTable(
    db,
    "delivery_queues",
    `
    destination_id text collate "C" not null,
    chat_id text collate "C" not null default '',
    delivery_id text collate "C" not null default '',
    due_at timestamptz not null default now(),
    claim text collate "C",
    posted integer not null default 1,
    foreign key (organization_id, destination_id) references webhook_destinations (organization_id, id) on delete cascade`,
    "destination_id, chat_id, delivery_id",
  );
  await db.raw(
    `create index delivery_queues_due on delivery_queues (organization_id, destination_id, due_at)`,
  );
  // Its few rows change with every delivery.
  await db.raw(`
    alter table delivery_queues set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05,
      autovacuum_vacuum_threshold = 500, autovacuum_vacuum_insert_threshold = -1)`);
  await functions(db);
}

async function functions(db: Knex): Promise<void> {
  // Jumps from destination to destination, so that the number of queues does not matter.
  await db.raw(`
    create function parley_due_queues() returns table (organization_id text, destination_id text)
    language sql stable security definer set search_path = pg_catalog, public as $$
      with recursive each as (
        (select q.organization_id, q.destination_id from public.delivery_queues q order by 1, 2 limit 1)
        union all
        select further.organization_id, further.destination_id from each cross join lateral (
          select q.organization_id, q.destination_id from public.delivery_queues q
          where (q.organization_id, q.destination_id) > (each.organization_id, each.destination_id)
          order by 1, 2 limit 1
        ) further
      )
      select each.organization_id, each.destination_id from each where exists (
        select 1 from public.delivery_queues q where q.organization_id = each.organization_id
          and q.destination_id = each.destination_id and q.due_at <= now())
    $$`);
  // Looks at the next pending deliveries behind a position, in the order of an index. Returns the last of them.
  await db.raw(`
    create function parley_repair_queues(after_organization text, after_destination text, after_event text, after_id text, most integer)
    returns table (organization_id text, destination_id text, event_id text, delivery_id text, repaired integer)
    language sql security definer set search_path = pg_catalog, public as $$
      with looked as (
        select d.organization_id, d.destination_id, d.event_id, d.id, d.next_attempt_at,
          case when d.attempts = '[]' then coalesce(d.chat_id, '') else '' end as chat_id
        from public.deliveries d
        where d.status = 'PENDING'
          and (d.organization_id, d.destination_id, d.event_id, d.id) > (after_organization, after_destination, after_event, after_id)
        order by 1, 2, 3, 4 limit most
      ), wanted as (
        select s.organization_id, s.destination_id, s.chat_id, case when s.chat_id = '' then s.id else '' end as delivery_id,
          min(s.next_attempt_at) as due_at
        from looked s group by 1, 2, 3, 4
      ), added as (
        insert into public.delivery_queues (organization_id, destination_id, chat_id, delivery_id, due_at)
        select w.organization_id, w.destination_id, w.chat_id, w.delivery_id, w.due_at from wanted w
        where not exists (
          select 1 from public.delivery_queues q where q.organization_id = w.organization_id
            and q.destination_id = w.destination_id and q.chat_id = w.chat_id and q.delivery_id = w.delivery_id
            and (q.claim is not null or q.due_at <= greatest(w.due_at, now())))
        order by 1, 2, 3, 4
        on conflict (organization_id, destination_id, chat_id, delivery_id) do update
          set posted = delivery_queues.posted + 1,
            due_at = case when delivery_queues.claim is null then excluded.due_at else delivery_queues.due_at end
        returning 1
      )
      select last.organization_id, last.destination_id, last.event_id, last.id, (select count(*)::integer from added)
      from (select * from looked order by 1 desc, 2 desc, 3 desc, 4 desc limit 1) last
    $$`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(`drop function parley_repair_queues(text, text, text, text, integer)`);
  await db.raw(`drop function parley_due_queues()`);
  await db.raw(`drop table delivery_queues`);
}
