import { EventEmitter } from "node:events";
import { Logger as JobLogger, run, type Runner, type TaskList, type WorkerEvents } from "graphile-worker";
import { Pool } from "pg";
import type { Logger } from "pino";
import type { Database } from "../database/database";
import { tasks } from "./tasks";

/** Jobs at once in this process. */
const CONCURRENCY = 20;
/** How often a worker says that it lives, and how long silence means that it died, in milliseconds. */
const HEARTBEAT = 15_000;
const DEAD = 60_000;

/** Runs jobs; what a worker that died had begun is begun again within 90 seconds. */
export async function startWorker(
  database: Database,
  url: string,
  logger: Logger,
): Promise<{ stop(): Promise<void> }> {
  const pool = new Pool({
    connectionString: url,
    max: CONCURRENCY / 2 + 2,
    application_name: "parley worker",
  });
  const lost = (error: unknown) => logger.warn({ err: error }, "worker connection lost");
  pool.on("error", lost).on("connect", (client) => void client.on("error", lost));
  const { events, ids } = watched(logger);
  const runner = await run({
    pgPool: pool,
    taskList: taskList(database),
    concurrency: CONCURRENCY,
    noHandleSignals: true,
    pollInterval: 1_000,
    logger: jobLog(logger),
    events,
  });
  runner.promise.catch((error: unknown) => logger.error({ err: error }, "the worker stopped"));
  const beat = () =>
    void heartbeat(pool, [...ids]).catch((error: unknown) => logger.warn({ err: error }, "no heartbeat"));
  const timer = setInterval(beat, HEARTBEAT).unref();
  beat();
  return {
    stop: async () => {
      clearInterval(timer);
      await stopRunner(runner);
      await pool
        .query("delete from worker_heartbeats where worker_id = any($1)", [[...ids]])
        .catch(() => undefined);
      await pool.end();
    },
  };
}

/** Events of the workers, listened to before the first of them is made, and the ids of all of them. */
function watched(logger: Logger): { events: WorkerEvents; ids: ReadonlySet<string> } {
  const ids = new Set<string>();
  const events = new EventEmitter() as WorkerEvents;
  events.on("worker:create", ({ worker }) => ids.add(worker.workerId));
  events.on("job:failed", ({ error, job }) =>
    logger.error({ err: error, task: job.task_identifier }, "a job failed for good"),
  );
  return { events, ids };
}

const taskList = (database: Database): TaskList =>
  Object.fromEntries(
    Object.entries(tasks).map(([name, task]) => [
      name,
      async (payload: unknown) => {
        const { organizationId, ...rest } = payload as { organizationId: string } & Record<string, string>; // written by Scope.enqueue
        await task(database.scope(organizationId), rest);
      },
    ]),
  );

async function heartbeat(pool: Pool, ids: readonly string[]): Promise<void> {
  await pool.query(
    `insert into worker_heartbeats (worker_id) select unnest($1::text[]) on conflict (worker_id) do update set seen_at = now()`,
    [ids],
  );
  const silent = `delete from worker_heartbeats where seen_at < now() - $1 * interval '1 millisecond' returning worker_id`;
  const { rows } = await pool.query<{ worker_id: string }>(silent, [DEAD]);
  if (rows.length > 0)
    await pool.query("select graphile_worker.force_unlock_workers($1)", [
      rows.map(({ worker_id }) => worker_id),
    ]);
}

const stopRunner = (runner: Runner): Promise<void> => runner.stop().catch(() => undefined);

/** Its own lines for each job are of use when looking for a fault only. */
const jobLog = (logger: Logger): JobLogger =>
  new JobLogger(
    () => (level, message) =>
      String(level) === "error" ? logger.error({}, message) : logger.debug({}, message),
  );
