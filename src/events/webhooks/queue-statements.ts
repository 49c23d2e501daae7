import type { EventName } from "../../platform/database/tables/event-names";
import { statement, unprepared } from "../../platform/database/statement";
import type { Recipe } from "../../platform/database/tables/value-types";
import { ADD_TO_QUEUE } from "../events/recording-statement";

/** A delivery that was begun, with its event; the id is null if there is none. */
export interface BegunRow {
  readonly id: string | null;
  readonly eventId: string;
  readonly attempt: number;
  readonly recordedAttempts: number;
  readonly name: EventName;
  readonly type: string;
  readonly assistantId: string;
  readonly eventChatId: string | null;
  readonly body: string | null;
  readonly recipe: Recipe | null;
  readonly digest: string | null;
}

export interface ClaimRow extends BegunRow {
  readonly chatId: string;
  readonly deliveryId: string;
}

/** Rows of `delivery_queues` by the key that a JSON list gives, besides the organization. */
export const OF_QUEUE = `q.destination_id = asked."destinationId" and q.chat_id = asked."chatId"
  and q.delivery_id = asked."deliveryId"`;

/** Not `status = 'PENDING'`: with statistics older than a backlog, PostgreSQL reads all pending deliveries. */
export const IS_PENDING = `d.status not in ('DELIVERED', 'FAILED')`;
export const IS_FREE = `(d.claimed_until is null or d.claimed_until < now())`;

export const ADD = statement(({ db }) =>
  db.raw(`
  insert into delivery_queues (organization_id, destination_id, chat_id, delivery_id)
  select $1, $2, asked."chatId", asked."deliveryId"
  from json_to_recordset($3::json) as asked("chatId" text, "deliveryId" text) order by 3, 4
  ${ADD_TO_QUEUE}`),
);

/**
 * Takes queues that nobody else has, finds the first delivery of each, and begins it if it is still free: what was
 * found is as old as the start of the statement.
 */
export const CLAIM = unprepared<ClaimRow>(({ db }) =>
  db.raw(`
  with due as (
    select q.chat_id, q.delivery_id from delivery_queues q
    where q.organization_id = $1 and q.destination_id = $2 and q.due_at <= now()
    order by q.due_at limit $3 for update of q skip locked
  ), first as (
    select due.chat_id, due.delivery_id, d.id from due cross join lateral (
      select d.id from deliveries d
      where d.organization_id = $1 and d.destination_id = $2 and d.chat_id = due.chat_id and d.status = 'PENDING'
        and d.attempts = '[]' and due.delivery_id = ''
      order by d.chat_sequence, d.event_id limit 1
    ) d
    union all
    select due.chat_id, due.delivery_id, d.id from due cross join lateral ( -- with a limit, so that each is looked up by the index
      select d.id from deliveries d where d.organization_id = $1 and d.id = due.delivery_id and ${IS_PENDING} limit 1
    ) d
  ), free as (
    select d.id from deliveries d
    where d.organization_id = $1 and d.id = any(array(select id from first))
      and ${IS_PENDING} and ${IS_FREE} and d.next_attempt_at <= now()
    for update of d skip locked
  ), begun as (
    update deliveries d set attempt = d.attempt + 1, claimed_until = now() + $4 * interval '1 millisecond'
    where d.organization_id = $1 and d.id = any(array(select id from free))
    returning d.id, d.event_id, d.attempt, jsonb_array_length(d.attempts) as recorded_attempts
  ), taken as (
    update delivery_queues q set claim = $5, due_at = now() + $4 * interval '1 millisecond' from due
    where q.organization_id = $1 and q.destination_id = $2
      and q.chat_id = due.chat_id and q.delivery_id = due.delivery_id
    returning q.chat_id, q.delivery_id
  )
  select taken.chat_id, taken.delivery_id, begun.id, begun.event_id, begun.attempt, begun.recorded_attempts,
    e.name, e.type, e.assistant_id, e.chat_id as event_chat_id, e.body, e.recipe, e.digest
  from taken
  left join first on first.chat_id = taken.chat_id and first.delivery_id = taken.delivery_id
  left join begun on begun.id = first.id
  left join events e on e.organization_id = $1 and e.id = begun.event_id`),
);

/** Locks deliveries before their queues, like the statement that records results. */
export const RENEW = statement(({ db }) =>
  db.raw(`
  with asked as materialized (
    select * from json_to_recordset($2::json)
      as one("destinationId" text, "chatId" text, "deliveryId" text, claim text, id text, attempt integer)
  ), renewed as (
    update deliveries d set claimed_until = now() + $3 * interval '1 millisecond' from asked
    where d.organization_id = $1 and d.id = asked.id and d.attempt = asked.attempt and ${IS_PENDING}
      and d.claimed_until is not null
    returning 1
  )
  update delivery_queues q set due_at = now() + $3 * interval '1 millisecond' from asked
  where q.organization_id = $1 and ${OF_QUEUE} and q.claim = asked.claim and (select count(*) from renewed) >= 0`),
);

/** Gives a queue back whose delivery has not been sent, and takes back that this attempt was begun. */
export const PUT_BACK = statement(({ db }) =>
  db.raw(`
  with put_back as (
    update deliveries d set attempt = d.attempt - 1, claimed_until = null
    where d.organization_id = $1 and d.id = $6 and d.attempt = $7 and ${IS_PENDING} and d.claimed_until is not null
    returning 1
  )
  update delivery_queues q set claim = null, due_at = now()
  where q.organization_id = $1 and q.destination_id = $2 and q.chat_id = $3 and q.delivery_id = $4 and q.claim = $5
    and (select count(*) from put_back) >= 0`),
);

/** The newest deliveries that a server of an older version can have stored since its notification. */
export const REPAIR = unprepared(({ db }) =>
  db.raw(`
  insert into delivery_queues (organization_id, destination_id, chat_id, delivery_id)
  select distinct $1, $2, coalesce(newest.chat_id, ''), case when newest.chat_id is null then newest.id else '' end
  from (
    select d.id, d.chat_id, d.attempts from deliveries d
    where d.organization_id = $1 and d.destination_id = $2 and d.status = 'PENDING'
    order by d.event_id desc limit 200
  ) newest
  where newest.attempts = '[]' and not exists (
    select from delivery_queues q where q.organization_id = $1 and q.destination_id = $2
      and q.chat_id = coalesce(newest.chat_id, '')
      and q.delivery_id = case when newest.chat_id is null then newest.id else '' end)
  order by 3, 4
  ${ADD_TO_QUEUE}`),
);
