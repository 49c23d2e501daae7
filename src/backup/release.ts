import type { Knex } from "knex";
import { recordCommand } from "../account/audit/record-command";
import { Chats } from "../chats/chats/chats";
import type { Database } from "../platform/database/database";
import type { Rows } from "../platform/database/tables/rows";
import { currentHold, RELEASE_CHANNEL, type Hold } from "../platform/database/connections/holds";
import { slowTasks, soleTasks, tasks } from "../worker/tasks";

/** Counts of pending work that a release dropped. */
export interface DroppedWork {
  readonly jobs: number;
  readonly deliveries: number;
  readonly texts: number;
  readonly calls: number;
}

/** Tasks whose jobs send something to people, or ask a model for it. */
const DROPPED_TASKS = Object.entries({ ...tasks, ...soleTasks, ...slowTasks })
  .filter(([, { reachesPeople }]) => reachesPeople)
  .map(([name]) => name);

type Counts = Record<keyof DroppedWork, number>;

/**
 * Lets jobs run again in all servers, and records it in the audit log of every organization.
 * @param drop whether work that was pending when the copy was made is dropped; later work continues in any case
 * @returns the released hold and the dropped work; undefined if nothing was held
 */
export async function release(
  database: Database,
  drop: boolean,
): Promise<{ readonly hold: Hold; readonly dropped: DroppedWork | undefined } | undefined> {
  return database.transaction(async (database, db) => {
    const hold = await currentHold(db);
    if (hold === undefined) return undefined;
    const waiting = drop ? await dropWaiting(db, database, hold.finishedAt ?? hold.since) : undefined;
    await db("holds").whereNull("releasedAt").update({ releasedAt: db.fn.now() });
    await db.raw("select pg_notify(?, '{}')", [RELEASE_CHANNEL]);
    await recordCommand(database, "release", drop ? [{ name: "drop" }] : [], waiting);
    return { hold, dropped: waiting && sumOf(waiting) };
  });
}

function sumOf(waiting: ReadonlyMap<string, Counts>): DroppedWork {
  const sum = { ...NOTHING };
  for (const counts of waiting.values())
    for (const [kind, count] of Object.entries(counts)) sum[kind as keyof DroppedWork] += count;
  return sum;
}

const NOTHING: Counts = { jobs: 0, deliveries: 0, texts: 0, calls: 0 };

/** Statements that drop pending work, by kind. */
const DROPS = {
  jobs: `select payload ->> 'organizationId' as organization_id from graphile_worker.complete_jobs(array(
    select id from graphile_worker.jobs where task_identifier = any(:tasks) and created_at <= :until))`,
  deliveries: `update deliveries set status = 'FAILED', claimed_until = null
    where status = 'PENDING' and created_at <= :until returning organization_id`,
  texts: `update sms_sent set problem = 'Dropped after a restore.'
    where sent_at is null and problem is null and created_at <= :until returning organization_id`,
} as const;

/** Marks messages of the assistant that were not yet sent by SMS as sent. */
const SKIP_UNSENT = `update sms_threads thread set sent_sequence = said.last from (
    select organization_id, chat_id, max(sequence) as last from messages where created_at <= :until group by 1, 2
  ) said where said.organization_id = thread.organization_id and said.chat_id = thread.chat_id
    and said.last > thread.sent_sequence`;

/** @returns counts of the dropped work by organization */
async function dropWaiting(db: Knex, database: Database, until: Date): Promise<Map<string, Counts>> {
  const dropped = new Map<string, Counts>();
  const count = (kind: keyof DroppedWork, organizationId: string) => {
    const counts = dropped.get(organizationId) ?? { ...NOTHING };
    counts[kind]++;
    dropped.set(organizationId, counts);
  };
  for (const kind of ["jobs", "deliveries", "texts"] as const) {
    const bindings = { tasks: DROPPED_TASKS, until } as never;
    const { rows } = await db.raw<{ rows: { organization_id: string }[] }>(DROPS[kind], bindings);
    for (const row of rows) count(kind, row.organization_id);
  }
  await db.raw(SKIP_UNSENT, { until });
  await db.raw("update sms_received set outcome = 'dropped' where outcome is null and created_at <= :until", {
    until,
  });
  for (const { organizationId } of await endQueuedCalls(db, database, until)) count("calls", organizationId);
  return dropped;
}

/** Ends queued calls. The engine is not told: if it knows one of them, the original installation has dialed it. */
async function endQueuedCalls(
  db: Knex,
  database: Database,
  until: Date,
): Promise<readonly { organizationId: string }[]> {
  const rows = await db<Rows["chats"]>("chats")
    .where({ channel: "VOICE", status: "queued" })
    .where("startedAt", "<=", until)
    .select("organizationId", "id");
  for (const { organizationId, id } of rows)
    await database
      .scope(organizationId)
      .transaction((scope) => scope.of(Chats).endIfLive(id, "dropped-after-restore", { hangUp: false }));
  return rows;
}
