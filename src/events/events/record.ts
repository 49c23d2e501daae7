import type { Knex } from "knex";
import { TRIES, type Build, type Scope } from "../../platform/database/scope";

/** The channel on which the dispatchers of all servers are told that a destination has something to get. */
export const DELIVERIES_CHANNEL = "parley_deliveries";
/** The channel on which new events are told; with `activity` where one tells what an assistant does just now. */
export const EVENTS_CHANNEL = "parley_events";
/** The channel on which changed chats are told to every server process, with the `change`. */
export const CHATS_CHANNEL = "parley_chats";

/** An event as it is written, of the assistant, workflow or deployment that holds the chat. */
export interface NewEvent {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly assistantId: string;
  readonly chatId: string;
  readonly body: string;
  readonly deploymentId: string | null;
  readonly workflowId: string | null;
  /** What those who watch the chat have to read: its status, or the role of who said something. */
  readonly change: string | null;
  /** What the assistant does just now: told to those who watch the chat. */
  readonly activity: string | null;
}

/** A change that an event tells of and that is made by the same statement. Where it changes nothing there is no event. */
export interface Cause {
  /** Names the statement. */
  readonly name: string;
  /** Parts of a `with`, of which `cause` has a row with the chat's new `event_count` when something was changed. */
  readonly change: Build;
  /** From $13 on. */
  readonly values: readonly unknown[];
  /** What is to be done later because of it. */
  readonly jobs: readonly Job[];
}

export interface Job {
  readonly task: string;
  readonly payload: Readonly<Record<string, string>>;
  readonly key?: string;
  /** Somebody waits for it: where this process has room it is begun by the same statement. It must be a sole task. */
  readonly urgent?: boolean;
}

/** Of an activity so many characters are told: notifications have little room, and a model may call a function anything. */
const ACTIVITY = 100;

/**
 * Writes an event, one delivery for each destination that is to get it, and tells who waits for them, all by one
 * statement, as this stands in the way of every message; with them the audit entry of the operation. Destinations of a
 * project take over from those of the organization; the project is that of the deployment, else of the workflow, else
 * of the assistant.
 * @returns whether it was written
 */
export async function record(scope: Scope, event: NewEvent, cause?: Cause): Promise<boolean> {
  const { id, name, type, assistantId, chatId, body, deploymentId, workflowId, change } = event;
  const activity = event.activity?.slice(0, ACTIVITY) ?? null;
  const values = [id, name, type, assistantId, chatId, body, deploymentId, workflowId, change, activity];
  const build = statement(cause?.change);
  const write = async (jobs: readonly object[]) => {
    const audit = scope.operation?.entry;
    const beside = JSON.stringify({ jobs, audit: audit ? [audit] : [] });
    const all = [...values, beside, ...(cause?.values ?? [])];
    const rows = await scope.write<Recorded>(`events.record.${cause?.name}`, build, all);
    if (audit && rows.length > 0) scope.operation?.stored();
    return rows;
  };
  return (await withJobs(scope, cause?.jobs ?? [], write)).length > 0;
}

interface Recorded {
  /** For each job its id, where it was begun. */
  readonly begun: readonly (string | null)[] | null;
}

/** Writes with jobs, and runs here the urgent one that was begun. A transaction's are found when it has committed. */
async function withJobs(
  scope: Scope,
  jobs: readonly Job[],
  write: (jobs: readonly object[]) => Promise<Recorded[]>,
): Promise<Recorded[]> {
  const wanted = jobs.map((job) => ({ ...job, payload: scope.owned(job.payload) }));
  const urgent = scope.inTransaction ? undefined : wanted.find((job) => job.urgent);
  const place = urgent && scope.ports.jobSlot(scope.organizationId);
  if (!place) return write(wanted);
  let id: string | null | undefined;
  try {
    const { worker } = place;
    const rows = await write(wanted.map((job) => (job === urgent ? { ...job, worker } : job)));
    id = rows[0]?.begun?.find((begun) => begun !== null);
    return rows;
  } finally {
    if (id == null) place.release();
    else place.take({ id, task: urgent.task, payload: urgent.payload });
  }
}

/** A delivery's id has the time and the count of its event's, and the random end of its destination's: it sorts by time, and there is one for both. */
const statement =
  (change = nothing): Build =>
  (table, $, db, all) =>
    db.raw(
      `
  with ?, project as (
    select coalesce(
      (select project_id from deployments where deployments.organization_id = $1 and id = $8),
      (select project_id from workflows where workflows.organization_id = $1 and id = $9),
      (select project_id from assistants where assistants.organization_id = $1 and id = $5)) as id
  ), wanted as (
    select d.id, d.project_id is not null as own from webhook_destinations d
    where d.organization_id = $1 and d.enabled and exists (select from cause)
      and (d.project_id is null or d.project_id = (select project.id from project))
    for key share
  ), chosen as (
    select wanted.id from wanted where own or not exists (select from wanted where own)
  ), event as (
    insert into events (organization_id, id, name, type, assistant_id, chat_id, body, chat_sequence)
    select $1, $2, $3, $4, $5, $6, $7, cause.event_count from cause
  ), sent as (
    insert into deliveries (organization_id, id, event_id, destination_id, chat_id, chat_sequence)
    select $1, left($2, 26) || right(chosen.id, 10), $2, chosen.id, $6, cause.event_count from chosen, cause
  ), audit as (
    insert into audit_outbox (organization_id, id, entry)
    select $1, asked.id, asked.entry from cause, json_to_recordset($12::json -> 'audit') as asked(id text, entry jsonb)
    on conflict do nothing -- two events of one operation may be stored at once
  )
  select pg_notify('${EVENTS_CHANNEL}', json_strip_nulls(
      json_build_object('organizationId', $1::text, 'eventId', $2::text, 'chatId', $6::text, 'activity', $11::text))::text),
    (select count(pg_notify('${DELIVERIES_CHANNEL}',
      json_build_object('organizationId', $1::text, 'destinationId', chosen.id)::text)) from chosen),
    case when $10::text is not null then pg_notify('${CHATS_CHANNEL}',
      json_build_object('organizationId', $1::text, 'chatId', $6::text, 'change', $10::text)::text) end,
    (select json_agg(parley_begin(job.task, job.payload, job.key, ${TRIES}, job.worker)::text)
      from json_to_recordset($12::json -> 'jobs') as job(task text, payload json, key text, worker text)) as begun
  from cause`,
      [change(table, $, db, all) as Knex.Raw],
    );

/** The chat's row is locked until the event is committed: its counter has the order in which events come to be seen. */
const nothing: Build = (_table, _$, db) =>
  db.raw(`
  cause as (
    update chats set event_count = event_count + 1 where chats.organization_id = $1 and id = $6
    returning event_count
  )`);
