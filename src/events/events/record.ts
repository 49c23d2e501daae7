import type { Knex } from "knex";
import { MAX_ATTEMPTS } from "../../platform/database/enqueue-job";
import { DEFAULT_EVENTS } from "../../platform/database/event-names";
import type { Scope } from "../../platform/database/scope";
import { statement, type Pieces, type Statement } from "../../platform/database/statement";
import type { Recipe } from "../../platform/database/value-types";
import { tracing } from "../../platform/tracing/tracing";
import { digestOf } from "./compose";
import { keepRecentBody } from "./recent-bodies";
import { noteRecorded } from "./sequencer";

/**
 * Channel of notifications to the dispatchers of all servers: a destination has a new delivery. Without `queued`, a
 * server of an older version has stored it, which knows no queues.
 */
export const DELIVERIES_CHANNEL = "parley_deliveries";
/** Channel of notifications about new events. `activity` is set if the event says what the assistant does now. */
export const EVENTS_CHANNEL = "parley_events";
/** Channel of notifications about changed chats, with the `change`. */
export const CHATS_CHANNEL = "parley_chats";

/** An event to store, with the assistant, workflow and deployment of its chat. */
export interface NewEvent {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly assistantId: string;
  readonly chatId: string;
  readonly body: string;
  /** Stored instead of the body as soon as all servers can compose it. */
  readonly recipe: Recipe | null;
  readonly deploymentId: string | null;
  readonly workflowId: string | null;
  /** What readers of the chat need to reload: its new status, or the role of a new message. */
  readonly change: string | null;
  /** What the assistant does now, for readers of the chat. */
  readonly activity: string | null;
}

/** A change made by the statement that stores its event. If it changes nothing, no event is stored. */
export interface Cause {
  /** Created by `recordingStatement`. */
  readonly statement: Statement<RecordRow>;
  /** Parameters from $11 on. */
  readonly values: readonly unknown[];
  /** Jobs to enqueue. */
  readonly jobs: readonly Job[];
  /** Announces the change, before its event is announced. */
  readonly announce?: () => void;
}

export interface Job {
  readonly task: string;
  readonly payload: Readonly<Record<string, string>>;
  readonly key?: string;
  /** A person waits for it: the same statement starts the job if this process has a free slot. For `soleTasks` only. */
  readonly urgent?: boolean;
}

/** In characters: notifications are limited to 8 kB, and a model can invent long function names. */
const MAX_ACTIVITY_LENGTH = 100;
/** The online step that is done when all servers can compose bodies. */
const COMPOSE_STEP = "compose_events";

/** Ports of the services of this process whose servers can all compose bodies. */
const composing = new WeakSet<object>();

/**
 * Stores an event, its deliveries and their queues, the jobs of its cause and the audit entry of the operation. Notifies
 * listeners when it is committed.
 * Uses a single statement, because every message waits for it. Destinations of the project, if it has any, replace those
 * of the organization, whichever events they have chosen. The project is that of the deployment, else of the workflow,
 * else of the assistant.
 * @returns false if `cause` changed nothing
 */
export async function record(scope: Scope, event: NewEvent, cause?: Cause): Promise<boolean> {
  const { id, name, type, assistantId, chatId, recipe, deploymentId, workflowId } = event;
  const body = recipe && composing.has(scope.ports) ? null : event.body;
  const values = [id, name, type, assistantId, chatId, body, deploymentId, workflowId];
  const write = async (jobs: readonly object[]) => {
    const audit = scope.operation?.entry;
    const composed = recipe && { recipe, digest: digestOf(event.body) };
    const additions = JSON.stringify({ jobs, audit: audit ? [audit] : [], ...composed });
    const all = [...values, additions, ...(cause?.values ?? [])];
    const rows = await scope.write(cause?.statement ?? RECORD, all);
    if (audit && rows.length > 0) scope.operation?.stored();
    return rows;
  };
  const [recorded] = await withJobs(scope, cause?.jobs ?? [], write);
  if (!recorded) return false;
  const destinations = recorded.destinations ?? [];
  if (recorded.composes) {
    composing.add(scope.ports); // it stays so: older versions no longer start
    if (recipe) keepRecentBody(id, event.body, destinations.length);
  }
  if (destinations.length > 0) tracing.tracer?.recorded({ id, name, chatId });
  noteRecorded(scope);
  cause?.announce?.();
  announce(scope, event, destinations);
  return true;
}

/** Tells all servers of a stored event, its deliveries, and the change of its chat. */
function announce(
  scope: Scope,
  { id: eventId, chatId, activity, change }: NewEvent,
  destinations: readonly string[],
): void {
  const doing = activity !== null && { activity: activity.slice(0, MAX_ACTIVITY_LENGTH) };
  scope.announce(EVENTS_CHANNEL, { eventId, chatId, ...doing });
  for (const destinationId of destinations)
    scope.announce(DELIVERIES_CHANNEL, { destinationId, queued: "1" });
  if (change !== null) scope.announce(CHATS_CHANNEL, { chatId, change });
}

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

/** Adds the event's conversation to the queue of each destination. */
const queue = ({ home }: Pieces) => `
    insert into delivery_queues (organization_id, destination_id, chat_id)
    select ${home.id}, chosen.id, $6 from chosen, cause ${home.join} ${ADD_TO_QUEUE}`;

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
}

/** Writes with jobs, and runs the urgent job if the statement started it. Workers find the others after the commit. */
async function withJobs(
  scope: Scope,
  jobs: readonly Job[],
  write: (jobs: readonly object[]) => Promise<RecordRow[]>,
): Promise<RecordRow[]> {
  const ownedJobs = jobs.map((job) => ({ ...job, payload: scope.owned(job.payload) }));
  const urgent = scope.inTransaction ? undefined : ownedJobs.find((job) => job.urgent);
  const slot = urgent && scope.ports.jobSlot(scope.organizationId);
  let id: string | null | undefined;
  try {
    const worker = slot && { worker: slot.worker };
    const rows = await write(ownedJobs.map((job) => (job === urgent ? { ...job, ...worker } : job)));
    id = rows[0]?.begun?.find((begun) => begun !== null);
    const forWorkers = rows[0]?.begun?.filter((begun) => begun === null).length ?? 0;
    if (forWorkers > 0) scope.wakeWorkers(forWorkers);
    return rows;
  } finally {
    if (id == null) slot?.release();
    else slot!.take({ id, task: urgent!.task, payload: urgent!.payload }); // no job is begun without a slot
  }
}

/**
 * Creates a statement that makes a change and records its event. A delivery id is the start of the event id and the end
 * of the destination id: it sorts by time and is unique per pair.
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
    select d.id, d.project_id is not null as own, ${CHOOSES} as chooses from webhook_destinations d
    where d.organization_id = $1 and d.enabled and exists (select from cause)
      and (d.project_id is null or d.project_id = (select project.id from project))
    for key share
  ), chosen as (
    select wanted.id from wanted where chooses and (own or not exists (select from wanted where own))
  ), ${COMPOSED}, event as (
    insert into events (organization_id, id, name, type, assistant_id, chat_id, body, recipe, digest, chat_sequence)
    select ${home.id}, $2, $3, $4, $5, $6, composed.body, composed.recipe, composed.digest, cause.event_count
    from cause, composed ${home.join}
    returning 1
  ), sent as (
    insert into deliveries (organization_id, id, event_id, destination_id, chat_id, chat_sequence)
    select ${home.id}, left($2, 26) || right(chosen.id, 10), $2, chosen.id, $6, cause.event_count
    from chosen, cause ${home.join}
    returning 1
  ), queued as (${queue(pieces)}
  ), ${entriesAndJobs(pieces)}
  select (select array_agg(chosen.id) from chosen) as destinations,
    begun.ids as begun, composed.composes
  from cause, composed, begun`,
      [change(pieces)],
    );
  });

/** The chat's row is locked until the commit, so its counter has the order in which events become visible. */
const RECORD = recordingStatement(({ db }) =>
  db.raw(`
  cause as (
    update chats set event_count = event_count + 1 where chats.organization_id = $1 and id = $6
    returning event_count
  )`),
);
