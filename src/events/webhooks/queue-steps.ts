import { statement } from "../../platform/database/statement";
import type { DeliveryStatus } from "./deliveries";
import { IS_FREE, IS_PENDING, OF_QUEUE, type BegunRow } from "./queue-statements";

export interface StepRow extends BegunRow {
  readonly kind: "recorded" | "begun" | "released";
  readonly number: number;
  readonly status: DeliveryStatus | null;
  readonly isDue: boolean | null;
}

/**
 * Stores the bodies of events whose first attempt failed, so that the next one sends the same bytes. A row that somebody
 * is changing or deleting is left alone: the next attempt stores it.
 */
const BODIES_KEPT = `bodiless as (
    select e.id from events e where e.organization_id = $1 and e.body is null
      and e.id = any(array(select event_id from recorded where recorded.body is not null)) for update skip locked
  ), bodies_kept as (
    update events e set body = recorded.body from recorded
    where e.organization_id = $1 and e.id = any(array(select id from bodiless)) and e.id = recorded.event_id and recorded.body is not null
  )`;

/** The columns of a begun delivery, in rows about something else; with types, which Citus needs. */
const NOTHING_BEGUN = `null::text, null::text, null::int, null::int, null::text, null::text, null::text, null::text,
  null::text, null::json, null::text`;

/** Begins the next deliveries of conversations whose result was recorded, if the worker goes on. */
const BEGUN = `next as materialized (
    select asked.number, w.id from asked join recorded on recorded.number = asked.number cross join lateral (
      select w.id from deliveries w
      where w.organization_id = $1 and w.destination_id = asked."destinationId" and w.chat_id = asked."chatId"
        and w.status = 'PENDING' and w.attempts = '[]' and w.id <> recorded.id
      order by w.chat_sequence, w.event_id limit 1
    ) w where asked.continues and asked."deliveryId" = ''
  ), begun as (
    update deliveries d set attempt = d.attempt + 1, claimed_until = now() + $3 * interval '1 millisecond' from next
    where d.organization_id = $1 and d.id = any(array(select id from next)) and d.id = next.id and ${IS_PENDING}
      and ${IS_FREE} and d.attempts = '[]'
    returning next.number, d.id, d.event_id, d.attempt, 0 as recorded_attempts
  )`;

/**
 * Gives back the queues in which nothing was begun: `seen` is what is left at the start of the statement, `held` the
 * newest version of the row. A row that somebody is changing is left alone.
 */
const RELEASED = `ending as (
    select * from asked where asked.releases and not exists (select from begun where begun.number = asked.number)
  ), seen as (
    select asked.number, q.posted, further.due_at from ending asked
    join delivery_queues q on q.organization_id = $1 and ${OF_QUEUE} and q.claim = asked.claim
    left join lateral (
      (select case when d.claimed_until > now() then now() + interval '1 second' else d.next_attempt_at end as due_at
      from deliveries d
      where d.organization_id = $1 and d.destination_id = asked."destinationId" and d.chat_id = asked."chatId"
        and d.status = 'PENDING' and d.attempts = '[]' and asked."deliveryId" = ''
        and d.id is distinct from asked.id
      order by d.chat_sequence, d.event_id limit 1)
      union all
      select case when d.claimed_until > now() then now() + interval '1 second' else d.next_attempt_at end
      from deliveries d where d.organization_id = $1 and d.id = asked."deliveryId" and ${IS_PENDING}
    ) further on true
  ), held as (
    select asked.number, q.* from ending asked cross join lateral (
      select q.destination_id, q.chat_id, q.delivery_id, q.posted from delivery_queues q
      where q.organization_id = $1 and ${OF_QUEUE} and q.claim = asked.claim for update skip locked) q
  ), freed as (
    select held.destination_id, held.chat_id, held.delivery_id, held.number,
      coalesce(seen.due_at, now()) as due_at, seen.due_at is null and seen.posted = held.posted as is_empty
    from held join seen on seen.number = held.number
  ), removed as (
    delete from delivery_queues q using freed where freed.is_empty and q.organization_id = $1
      and q.destination_id = freed.destination_id and q.chat_id = freed.chat_id and q.delivery_id = freed.delivery_id
    returning freed.number
  ), kept as (
    update delivery_queues q set claim = null, due_at = freed.due_at from freed
    where not freed.is_empty and q.organization_id = $1
      and q.destination_id = freed.destination_id and q.chat_id = freed.chat_id and q.delivery_id = freed.delivery_id
    returning freed.number, q.due_at
  )`;

/** The end of an insert into `delivery_queues` of deliveries that failed, whose retries may have the queue already. */
const TRY_AGAIN_LATER = `on conflict (organization_id, destination_id, chat_id, delivery_id) do update
  set posted = delivery_queues.posted + 1, due_at = excluded.due_at, claim = null`;

/**
 * Makes the steps of several queues: records results, begins the next deliveries, and gives queues back. A delivery
 * that failed gets a queue of its own for its retry. Whoever adds to a queue changes `posted`: a queue that had nothing
 * left is removed only if nothing was added since the start of the statement.
 */
export const ADVANCE = statement<StepRow>(({ db, home }) =>
  db.raw(`
  with asked as materialized (
    select one.*, now() + "pauseMs" * interval '1 millisecond' as retry_at
    from json_to_recordset($2::json) as one(number integer, "destinationId" text, "chatId" text,
      "deliveryId" text, claim text, continues boolean, releases boolean,
      id text, attempt integer, status text, entry jsonb, "pauseMs" double precision, body text)
  ), recorded as (
    update deliveries d set status = asked.status, claimed_until = null, attempts = d.attempts || asked.entry,
      next_attempt_at = coalesce(asked.retry_at, d.next_attempt_at),
      duration_ms = case when asked.status = 'DELIVERED' then (asked.entry -> 0 ->> 'durationMs')::integer
        else d.duration_ms end
    from asked where d.organization_id = $1 and d.id = any(array(select id from asked)) -- by the index, not all rows
      and d.id = asked.id and d.attempt = asked.attempt and ${IS_PENDING}
      and d.claimed_until is not null -- else this result is recorded already, and the answer was lost
    returning asked.number, asked.body, d.id, d.event_id, d.destination_id, d.status, d.next_attempt_at, asked."deliveryId" <> '' as alone
  ), ${BODIES_KEPT}, ${BEGUN}, retried as (
    insert into delivery_queues (organization_id, destination_id, delivery_id, due_at)
    select ${home.id}, destination_id, id, next_attempt_at from recorded ${home.join} where status = 'PENDING'
    ${TRY_AGAIN_LATER}
  ), ended as (
    delete from delivery_queues q using recorded
    where recorded.alone and recorded.status <> 'PENDING' and q.organization_id = $1
      and q.destination_id = recorded.destination_id and q.chat_id = '' and q.delivery_id = recorded.id
  ), ${RELEASED}
  (select 'begun'::text as kind, number, null::text as status, null::boolean as is_due, begun.id, event_id, attempt, recorded_attempts,
    e.name, e.type, e.assistant_id, e.chat_id as event_chat_id, e.body, e.recipe, e.digest
  from begun cross join lateral ( -- with a limit, so that each is looked up by the index
    select name, type, assistant_id, chat_id, body, recipe, digest from events
    where events.organization_id = $1 and events.id = begun.event_id limit 1) e)
  union all
  (select 'recorded'::text, number, status, null::boolean, ${NOTHING_BEGUN} from recorded)
  union all
  (select 'released'::text, number, null::text, false, ${NOTHING_BEGUN} from removed)
  union all
  (select 'released'::text, number, null::text, due_at <= now(), ${NOTHING_BEGUN} from kept)
  union all -- another worker has taken it
  (select 'released'::text, number, null::text, false, ${NOTHING_BEGUN} from ending
  where not exists (select from seen where seen.number = ending.number))`),
);
