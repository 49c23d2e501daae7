import type { Scope } from "../../platform/database/scope";
import type { Statement } from "../../platform/database/statement";
import type { Recipe } from "../../platform/database/tables/value-types";
import type { DeliveryRoom, StartedEvent, StoredDeliveries } from "../../platform/ports/ports";
import { tracing } from "../../platform/tracing/tracing";
import { digestOf } from "./compose";
import { keepRecentBody } from "./recent-bodies";
import { recordingStatement, type RecordRow } from "./recording-statement";
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
  // Without recipes, a server of an older version may run, which knows no queues.
  const room =
    scope.inTransaction || !composing.has(scope.ports)
      ? undefined
      : scope.ports.deliveryRoom(scope.organizationId, event);
  const stored = storedForm(scope, event);
  let deliveries: StoredDeliveries | undefined;
  try {
    const recorded = await store(scope, stored, event, room, cause);
    if (!recorded) return false;
    const destinations = recorded.destinations ?? [];
    if (recorded.composes) {
      composing.add(scope.ports); // it stays so: older versions no longer start
      if (event.recipe) keepRecentBody(event.id, event.body, destinations.length);
    }
    const started = recorded.started ?? [];
    deliveries = { event: stored, destinationIds: destinations, started };
    const begun = new Set(started.map(({ destinationId }) => destinationId));
    if (destinations.length > 0) tracing.tracer?.recorded(event);
    noteRecorded(scope);
    cause?.announce?.();
    announce(
      scope,
      event,
      destinations.filter((id) => !begun.has(id)),
    );
    return true;
  } finally {
    room?.take(deliveries);
  }
}

/** An event as it is stored by a process that knows whether it may leave out the body. */
function storedForm(scope: Scope, event: NewEvent): StartedEvent {
  const { id, name, type, assistantId, chatId, recipe } = event;
  const body = recipe && composing.has(scope.ports) ? null : event.body;
  return { id, name, type, assistantId, chatId, body, recipe, digest: recipe && digestOf(event.body) };
}

async function store(
  scope: Scope,
  { id, name, type, assistantId, chatId, body, recipe, digest }: StartedEvent,
  { deploymentId, workflowId }: NewEvent,
  room: DeliveryRoom | undefined,
  cause: Cause | undefined,
): Promise<RecordRow | undefined> {
  const values = [id, name, type, assistantId, chatId, body, deploymentId, workflowId];
  const write = async (jobs: readonly object[]) => {
    const audit = scope.operation?.entry;
    const additions = { jobs, audit: audit ? [audit] : [], room, ...(recipe && { recipe, digest }) };
    const all = [...values, JSON.stringify(additions), ...(cause?.values ?? [])];
    const rows = await scope.write(cause?.statement ?? RECORD, all);
    if (audit && rows.length > 0) scope.operation?.stored();
    return rows;
  };
  const [recorded] = await withJobs(scope, cause?.jobs ?? [], write);
  return recorded;
}

/** Tells all servers of a stored event, of its deliveries that wait, and of the change of its chat. */
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

/** The chat's row is locked until the commit, so its counter has the order in which events become visible. */
const RECORD = recordingStatement(({ db }) =>
  db.raw(`
  cause as (
    update chats set event_count = event_count + 1 where chats.organization_id = $1 and id = $6
    returning event_count
  )`),
);
