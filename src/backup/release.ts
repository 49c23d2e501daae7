import type { Knex } from "knex";
import { Chats } from "../chats/chats";
import type { Database } from "../database/database";
import { currentHold, RELEASE_CHANNEL, type Hold } from "../database/holds";
import { outgoing } from "../jobs/tasks";

/** What was waiting when a copy was made, and goes out no more: how many of each. */
export interface Dropped {
  readonly jobs: number;
  readonly deliveries: number;
  readonly texts: number;
  readonly calls: number;
}

/** Jobs of these tasks reach people, or ask a model for what would. */
const DROPPED_TASKS = Object.entries(outgoing)
  .filter(([, reaches]) => reaches)
  .map(([name]) => name);

/**
 * Lets jobs run again, in every server process.
 * @param drop whether what waited when the copy was made is dropped; what has come since is done
 * @returns the hold that stood, and what was dropped; undefined when there was none
 */
export async function release(
  db: Knex,
  database: Database,
  drop: boolean,
): Promise<{ readonly hold: Hold; readonly dropped: Dropped | undefined } | undefined> {
  const hold = await currentHold(db);
  if (hold === undefined) return undefined;
  const dropped = drop ? await dropWaiting(db, database, hold.finishedAt ?? hold.since) : undefined;
  await db("holds").whereNull("releasedAt").update({ releasedAt: db.fn.now() });
  await db.raw("select pg_notify(?, '{}')", [RELEASE_CHANNEL]);
  return { hold, dropped };
}

async function dropWaiting(db: Knex, database: Database, until: Date): Promise<Dropped> {
  const count = async (sql: string, values: unknown[] = [until]) =>
    (await db.raw<{ rowCount: number }>(sql, values as never)).rowCount;
  const jobs = await count(
    `delete from graphile_worker._private_jobs job using graphile_worker._private_tasks task
     where task.id = job.task_id and task.identifier = any(?) and job.created_at <= ?`,
    [DROPPED_TASKS, until],
  );
  const deliveries = await count(
    "update deliveries set status = 'FAILED', claimed_until = null where status = 'PENDING' and created_at <= ?",
  );
  const texts = await count(
    "update sms_sent set problem = 'Dropped after a restore.' where sent_at is null and problem is null and created_at <= ?",
  );
  // What the assistant had said, and nobody had taken to send it yet.
  await db.raw(
    `update sms_threads thread set sent_sequence = said.last from (
       select organization_id, chat_id, max(sequence) as last from messages where created_at <= ? group by 1, 2
     ) said where said.organization_id = thread.organization_id and said.chat_id = thread.chat_id
       and said.last > thread.sent_sequence`,
    [until],
  );
  await db.raw("update sms_received set outcome = 'dropped' where outcome is null and created_at <= ?", [
    until,
  ]);
  return { jobs, deliveries, texts, calls: await endQueuedCalls(db, database, until) };
}

/** Calls that nobody dials any more. The engine isn't told: if it knows one of them, the original has dialled it. */
async function endQueuedCalls(db: Knex, database: Database, until: Date): Promise<number> {
  const rows = (await db("chats")
    .where({ channel: "VOICE", status: "queued" })
    .where("startedAt", "<=", until)
    .select("organizationId", "id")) as { organizationId: string; id: string }[];
  for (const { organizationId, id } of rows)
    await database
      .scope(organizationId)
      .transaction((scope) => scope.of(Chats).endIfLive(id, "dropped-after-restore", false));
  return rows.length;
}
