import type { Knex } from "knex";
import { MAX_ATTEMPTS } from "../../platform/database/enqueue-job";
import { DEFAULT_EVENTS } from "../../platform/database/tables/event-names";
import { statement, type Pieces, type Statement } from "../../platform/database/statement";
import type { StartedDelivery } from "../../platform/ports/ports";

/** The online step that is done when all servers can compose bodies. */
const COMPOSE_STEP = "compose_events";

/**
 * The end of an insert into `delivery_queues`: what waits already keeps its place. A worker that has the queue sees by
 * `posted` that something was added.
 */
export const ADD_TO_QUEUE = `
  on conflict (organization_id, destination_id, chat_id, delivery_id) do update
    set posted = delivery_queues.posted + 1,
      due_at = case when delivery_queues.claim is null then least(delivery_queues.due_at, excluded.due_at)
        else delivery_queues.due_at end`;

/** A process that knows that all servers compose bodies passes none, if there is a recipe. */
const COMPOSED = `composed as (
    select mode.composes, case when mode.composes then recipe end as recipe,
      case when mode.composes then $10::json ->> 'digest' end as digest,
      case when not mode.composes or recipe is null then $7::text end as body
    from (select $10::json -> 'recipe' as recipe, $7::text is null
      or exists (select from online_steps where name = '${COMPOSE_STEP}' and done_at is not null) as composes) mode
  )`;

/** Whether a destination gets the event. Applied after the choice between project and organization, which it leaves alone. */
const CHOOSES = `coalesce(jsonb_exists(d.events, $3), $3 in (${DEFAULT_EVENTS.map((name) => `'${name}'`).join(", ")}))`;

/** Id of a delivery: the start of the event's id, and a digest of the destination's id, which an import may have chosen. */
const DELIVERY_ID =
  "left($2, 26) || left(encode(sha256(convert_to(queued.destination_id, 'UTF8')), 'hex'), 10)";

/**
 * Adds the event's conversation to the queue of each destination, and the deliveries. If this process has room for a
 * destination, and nothing of the conversation waits for it, the delivery is begun and the queue is taken at once.
 */
const deliveries = ({ home }: Pieces) => `room as (
    select offered.value as destination_id, $10::json -> 'room' ->> 'claim' as claim,
      now() + ($10::json -> 'room' ->> 'leaseMs')::float8 * interval '1 millisecond' as until
    from json_array_elements_text($10::json -> 'room' -> 'destinationIds') as offered
  ), queued as (
    insert into delivery_queues (organization_id, destination_id, chat_id, claim, due_at)
    select ${home.id}, chosen.id, $6, room.claim, coalesce(room.until, now())
    from chosen cross join cause left join room on room.destination_id = chosen.id ${home.join}
    ${ADD_TO_QUEUE}
    returning destination_id, claim
  ), started as (
    select ${DELIVERY_ID} as id, queued.destination_id, room.until, chosen.updated_at
    from queued join room on room.destination_id = queued.destination_id and room.claim = queued.claim
    join chosen on chosen.id = queued.destination_id
  ), sent as (
    insert into deliveries (organization_id, id, event_id, destination_id, chat_id, chat_sequence, attempt, claimed_until)
    select ${home.id}, ${DELIVERY_ID}, $2, queued.destination_id, $6, cause.event_count,
      case when started.id is null then 0 else 1 end, started.until
    from queued cross join cause left join started on started.destination_id = queued.destination_id ${home.join}
    returning 1
  )`;

/** Stores audit entries and enqueues jobs. */
const entriesAndJobs = ({ home }: Pieces) => `audit as (
    insert into audit_outbox (organization_id, id, entry)
    select ${home.id}, asked.value ->> 'id', (asked.value ->> 'entry')::jsonb
    from cause, json_array_elements($10::json -> 'audit') as asked ${home.join}
    on conflict do nothing -- two events of one operation may be stored at once
  ), begun as (
    select json_agg(parley_begin(job.value ->> 'task', job.value -> 'payload', job.value ->> 'key', ${MAX_ATTEMPTS},
      job.value ->> 'worker')::text) as ids
    from cause, json_array_elements($10::json -> 'jobs') as job
  )`;

export interface RecordRow {
  /** For each job its id if the statement started it, else null. */
  readonly begun: readonly (string | null)[] | null;
  /** Destinations with a new delivery; null if there are none. */
  readonly destinations: readonly string[] | null;
  /** Whether a recipe is stored instead of the body. */
  readonly composes: boolean;
  /** Deliveries that the statement has begun for this process; null if there are none. */
  readonly started: readonly StartedDelivery[] | null;
}

/**
 * Creates a statement that makes a change and records its event. Delivery ids sort by time.
 * @param change CTEs. The one named `cause` returns a row with the chat's new `event_count` if something changed
 */
export const recordingStatement = (change: (pieces: Pieces) => Knex.Raw): Statement<RecordRow> =>
  statement((pieces) => {
    const { db, home } = pieces;
    return db.raw(
      `
  with ?, project as (
    select coalesce(
      (select project_id from deployments where deployments.organization_id = $1 and id = $8),
      (select project_id from workflows where workflows.organization_id = $1 and id = $9),
      (select project_id from assistants where assistants.organization_id = $1 and id = $5)) as id
  ), wanted as (
    select d.id, d.updated_at, d.project_id is not null as own, ${CHOOSES} as chooses from webhook_destinations d
    where d.organization_id = $1 and d.enabled and exists (select from cause)
      and (d.project_id is null or d.project_id = (select project.id from project))
    for key share
  ), chosen as (
    select wanted.id, wanted.updated_at from wanted where chooses and (own or not exists (select from wanted where own))
  ), ${COMPOSED}, event as (
    insert into events (organization_id, id, name, type, assistant_id, chat_id, body, recipe, digest, chat_sequence)
    select ${home.id}, $2, $3, $4, $5, $6, composed.body, composed.recipe, composed.digest, cause.event_count
    from cause, composed ${home.join}
    returning 1
  ), ${deliveries(pieces)}, ${entriesAndJobs(pieces)}
  select (select array_agg(chosen.id) from chosen) as destinations, begun.ids as begun, composed.composes,
    (select json_agg(json_build_object('id', id, 'destinationId', destination_id, 'changedAt', updated_at)) from started) as started
  from cause, composed, begun`,
      [change(pieces)],
    );
  });
