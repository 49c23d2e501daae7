import { randomInt } from "node:crypto";
import { Logger as JobLogger, type Job, type JobHelpers, type TaskList } from "graphile-worker";
import { Pool } from "pg";
import type { Logger } from "pino";
import { jobOf } from "../account/audit/note";
import { currentDate } from "../platform/clock";
import type { Database } from "../platform/database/database";
import { TRIES, type Scope } from "../platform/database/scope";
import type { BegunJob, Ports } from "../platform/ports/ports";
import { AtOnce, requeue } from "../platform/jobs/at-once";
import { Calendar } from "../platform/jobs/calendar";
import { freeJobs } from "../platform/jobs/free-jobs";
import { GivenUp } from "./given-up";
import { LastingRunner } from "../platform/jobs/lasting-runner";
import { shared } from "../platform/jobs/shares";
import { alone, soleName } from "../platform/jobs/sole";
import { slowTasks, soleTasks, tasks, type Payload, type PeriodicTask, type Task } from "./tasks";

/** Jobs at once in this process, half of them for one organization alone. */
const CONCURRENCY = 32;
const SLOW_CONCURRENCY = 4;
/** Connections of those that find them; most jobs wait for something else. */
const CONNECTIONS = 15;
/**
 * Without batches the library lets the promise of noting a job's end reject unheard, which ends the process when the
 * database is away.
 */
const BATCHES = { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } };

/** When a job comes back that found another at its work, in milliseconds. */
const COME_BACK = 1_000;

export interface WorkerOptions {
  readonly database: Database;
  /** As the role that takes jobs. */
  readonly url: string;
  readonly periodic: Readonly<Record<string, PeriodicTask>>;
  /** After how many milliseconds at most what a worker that died had begun is begun again. */
  readonly takeover: number;
  readonly logger: Logger;
  /** Counts a job that was given up. */
  readonly countGivenUp: (task: string) => void;
}

export interface Worker {
  readonly place: Ports["placeForJob"];
  stop(): Promise<void>;
}

/** Runs jobs, and begins again what a worker that died had begun. */
export async function startWorker({
  database,
  url,
  periodic,
  takeover,
  logger,
  countGivenUp,
}: WorkerOptions): Promise<Worker> {
  const pool = poolOf(url, logger);
  const runners = runnersOf(database, pool, periodic, logger);
  const atOnce = new AtOnce(pool, performer(database), logger);
  const givenUp = new GivenUp({ pool, logger, count: countGivenUp, ...consequences(database, periodic) });
  const calendar = new Calendar(pool, periodic, logger);
  const ids = () => [atOnce.id, givenUp.id, ...runners.flatMap((runner) => runner.ids)];
  const beat = () =>
    Promise.all([heartbeat(pool, ids(), (takeover * 2) / 3), atOnce.giveUpUnheard()])
      .then(() => givenUp.sweep())
      .catch((error: unknown) => logger.warn({ err: error }, "no heartbeat"));
  await Promise.all(runners.map((runner) => runner.start()));
  await Promise.all([beat(), calendar.start()]);
  const timer = setInterval(() => void beat(), takeover / 6).unref();
  return {
    place: (organizationId) => atOnce.place(organizationId),
    stop: async () => {
      clearInterval(timer);
      const mine = ids();
      await Promise.all([...runners, atOnce, givenUp, calendar].map((one) => one.stop()));
      await pool
        .query("delete from worker_heartbeats where worker_id = any($1)", [mine])
        .catch(() => undefined);
      await pool.end();
    },
  };
}

/** Those for what somebody waits for, those for what takes long, and one for what is done at its time. */
function runnersOf(
  database: Database,
  pool: Pool,
  periodic: Readonly<Record<string, PeriodicTask>>,
  logger: Logger,
): LastingRunner[] {
  const common = {
    pgPool: pool,
    noHandleSignals: true,
    pollInterval: 1_000,
    logger: jobLog(logger),
    preset: BATCHES,
  };
  const quickTasks = { ...taskList(database, tasks), ...soleTaskList(database, pool) };
  const quick = { ...common, ...shared(quickTasks, CONCURRENCY), concurrency: CONCURRENCY };
  const slow = {
    ...common,
    ...shared(taskList(database, slowTasks), SLOW_CONCURRENCY),
    concurrency: SLOW_CONCURRENCY,
  };
  const timed = {
    ...common,
    taskList: periodicList(database, periodic),
    concurrency: 1,
  };
  return [quick, slow, timed].map((options) => new LastingRunner(options, pool, logger));
}

function poolOf(connectionString: string, logger: Logger): Pool {
  // That a job was begun or is over need not outlast a crash of the database: it is begun anew then, as after any other.
  const options = "-c synchronous_commit=off";
  const pool = new Pool({ connectionString, max: CONNECTIONS, application_name: "parley worker", options });
  const lost = (error: unknown) => logger.warn({ err: error }, "worker connection lost");
  return pool.on("error", lost).on("connect", (client) => void client.on("error", lost));
}

const taskList = (database: Database, some: Readonly<Record<string, Task>>): TaskList =>
  Object.fromEntries(
    Object.entries(some).map(([name, task]) => [
      name,
      (payload: unknown, { job }: JobHelpers) => perform(database, task, payload, job),
    ]),
  );

async function perform(
  database: Database,
  task: Task,
  payload: unknown,
  job: Pick<Job, "attempts" | "max_attempts">,
): Promise<void> {
  const { scope, ids } = read(database, payload);
  await task.run(scope, ids, job.attempts >= job.max_attempts);
}

function read(database: Database, payload: unknown): { scope: Scope; ids: Payload } {
  const { organizationId, ...ids } = payload as { organizationId: string } & Record<string, string>; // as Scope.owned made it
  return { scope: database.scope(organizationId), ids };
}

/** What happens when a job is given up. A periodic one runs at its next time. */
function consequences(database: Database, periodic: Readonly<Record<string, PeriodicTask>>) {
  const all: Readonly<Record<string, Task>> = { ...tasks, ...soleTasks, ...slowTasks };
  return {
    tasks: [...Object.keys(all), ...Object.keys(periodic)],
    conclude: async (task: string, payload: unknown) => {
      const { scope, ids } = read(database, payload ?? {});
      const { givenUp, record } = all[task] ?? {};
      if (!givenUp || !record) return givenUp?.(scope, ids);
      const audited = scope.audited(jobOf(`${task}.givenUp`, record.type, ids[record.id] ?? null));
      await givenUp(audited, ids);
      await audited.storeAudit();
    },
  };
}

/** Of a job that was begun as it was asked for. */
const performer =
  (database: Database) =>
  ({ task, payload }: BegunJob): Promise<void> =>
    perform(database, soleTasks[task as keyof typeof soleTasks], payload, {
      attempts: 1,
      max_attempts: TRIES,
    });

const soleTaskList = (database: Database, pool: Pool): TaskList =>
  Object.fromEntries(
    Object.entries(soleTasks).map(([task, work]) => [
      task,
      async (payload: unknown, { job, addJob }: JobHelpers) => {
        // Attempts that are given back repeat their numbers.
        const sole = { name: soleName(task, payload), jobId: job.id, attempt: randomInt(2 ** 31) };
        const entry = await alone(pool, sole, () => perform(database, work, payload, job));
        const runAt = currentDate(COME_BACK);
        if (entry === "later") await addJob(task, payload, { runAt, maxAttempts: job.max_attempts });
      },
    ]),
  );

const periodicList = (database: Database, some: Readonly<Record<string, PeriodicTask>>): TaskList =>
  Object.fromEntries(Object.entries(some).map(([name, { run }]) => [name, () => run(database)]));

/** Says that these live; those of whom nothing was heard for `silence` milliseconds have died. */
async function heartbeat(pool: Pool, ids: readonly string[], silence: number): Promise<void> {
  await pool.query(
    `insert into worker_heartbeats (worker_id) select unnest($1::text[]) on conflict (worker_id) do update set seen_at = now()`,
    [ids],
  );
  // Whoever fell silent, and whoever died before it ever spoke.
  const silent = `
    with silent as (delete from worker_heartbeats where seen_at < now() - $1 * interval '1 millisecond' returning worker_id)
    select worker_id from silent
    union select worker from (
      select locked_by as worker, locked_at as since from graphile_worker.jobs
      union all select worker, begun_at from begun_jobs
    ) as held where since < now() - $1 * interval '1 millisecond'
      and not exists (select 1 from worker_heartbeats where worker_id = worker)`;
  const { rows } = await pool.query<{ worker_id: string }>(silent, [silence]);
  if (rows.length === 0) return;
  const dead = rows.map(({ worker_id }) => worker_id);
  await Promise.all([freeJobs(pool, dead, true), requeue(pool, dead, true)]);
}

/** Its own lines for each job are of use when looking for a fault only. */
const jobLog = (logger: Logger): JobLogger =>
  new JobLogger(
    () => (level, message) =>
      String(level) === "error" ? logger.error({}, message) : logger.debug({}, message),
  );
