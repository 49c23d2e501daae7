import { randomInt } from "node:crypto";
import { Logger as JobLogger, type Job, type JobHelpers, type TaskList } from "graphile-worker";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { jobOf } from "../account/audit/note";
import { currentDate } from "../platform/clock";
import type { Database } from "../platform/database/database";
import { onceSettled } from "../platform/database/distributed/once-settled";
import { MAX_ATTEMPTS } from "../platform/database/enqueue-job";
import type { Scope } from "../platform/database/scope";
import type { StartedJob, Ports } from "../platform/ports/ports";
import type { WorkReports } from "../platform/ports/work-reports";
import { ImmediateJobs, requeue } from "../platform/jobs/immediate/immediate-jobs";
import { Calendar } from "../platform/jobs/calendar/calendar";
import { freeJobs } from "../platform/jobs/free-jobs";
import { GivenUp } from "./given-up";
import { inJobSpan } from "./job-span";
import { DueJobs } from "../platform/jobs/due-jobs";
import { openJobPool } from "../platform/jobs/job-pool/job-pool";
import { LastingRunner } from "../platform/jobs/lasting-runner";
import { fairShares } from "../platform/jobs/shares";
import { runAlone, soleName } from "../platform/jobs/sole";
import { reportHeld } from "./report-held";
import {
  slowTasks,
  soleTasks,
  tasks,
  type Payload,
  type PeriodicSettings,
  type PeriodicTask,
  type Task,
} from "./tasks";

/** Concurrent jobs of this process; one organization gets at most half. */
const CONCURRENCY = 32;
const SLOW_CONCURRENCY = 4;
/** Retention may run for minutes; the other periodic tasks take less than a second. */
const PERIODIC_CONCURRENCY = 2;
/** Each worker looks for jobs at this interval, in case that neither `NOTIFY` nor `DueJobs` has woken it. */
const POLL_INTERVAL_MS = 600_000;
/** Without batches graphile-worker leaves a rejected promise unhandled if the end of a job cannot be recorded, which ends the process. */
const BATCHES = { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } };

/** Delay before a job that must run alone is tried again after it found another one running. */
const REQUEUE_DELAY_MS = 1_000;

export interface WorkerOptions extends PeriodicSettings {
  readonly database: Database;
  /** Database URL with the role of the job worker. */
  readonly url: string;
  readonly periodic: Readonly<Record<string, PeriodicTask>>;
  /** Work of a dead worker is retried after at most this time. */
  readonly takeoverMs: number;
  readonly logger: Logger;
  readonly reports: WorkReports;
}

export interface Worker {
  readonly slot: Ports["jobSlot"];
  stop(): Promise<void>;
}

/** Runs jobs and requeues those of dead workers. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { database, url, periodic, takeoverMs, logger, reports } = options;
  const pool = openJobPool(url, logger, reports);
  const runners = runnersOf(database, pool, periodicList(database, periodic, options), logger);
  const immediate = new ImmediateJobs(pool, performer(database), logger);
  const givenUp = new GivenUp({ pool, logger, ...consequences(database, periodic, reports) });
  const calendar = new Calendar(pool, periodic, logger);
  const ids = () => [immediate.id, ...runners.flatMap((runner) => runner.ids)];
  const beat = () =>
    Promise.all([heartbeat(pool, ids(), (takeoverMs * 2) / 3), immediate.requeueUnconfirmed()])
      .then(() => givenUp.sweep())
      .catch((error: unknown) =>
        logger.warn({ err: error }, "the heartbeat of this server was not recorded"),
      );
  await reportHeld(pool, takeoverMs, logger);
  await Promise.all(runners.map((runner) => runner.start()));
  await Promise.all([beat(), calendar.start()]);
  const dueJobs = new DueJobs(pool, runners);
  const timer = setInterval(() => void beat(), takeoverMs / 6).unref();
  return {
    slot: (organizationId) => immediate.slot(organizationId),
    stop: async () => {
      clearInterval(timer);
      const mine = ids();
      await Promise.all([dueJobs, ...runners, immediate, givenUp, calendar].map((part) => part.stop()));
      await pool
        .query("delete from worker_heartbeats where worker_id = any($1)", [mine])
        .catch(() => undefined);
      await pool.end();
    },
  };
}

/** A runner each for tasks that people wait for, for slow tasks, and for periodic tasks. */
function runnersOf(database: Database, pool: Pool, periodic: TaskList, logger: Logger): LastingRunner[] {
  const common = {
    pgPool: pool,
    noHandleSignals: true,
    pollInterval: POLL_INTERVAL_MS,
    logger: jobLog(logger),
    preset: BATCHES,
  };
  const quickTasks = { ...taskList(database, tasks), ...soleTaskList(database, pool) };
  const quick = { ...common, ...fairShares(quickTasks, CONCURRENCY), concurrency: CONCURRENCY };
  const slow = {
    ...common,
    ...fairShares(taskList(database, slowTasks), SLOW_CONCURRENCY),
    concurrency: SLOW_CONCURRENCY,
  };
  const timed = {
    ...common,
    taskList: periodic,
    concurrency: PERIODIC_CONCURRENCY,
    preset: { worker: { ...BATCHES.worker, gracefulShutdownAbortTimeout: 0 } },
  };
  return [quick, slow, timed].map((options) => new LastingRunner(options, pool, logger));
}

const taskList = (database: Database, some: Readonly<Record<string, Task>>): TaskList =>
  Object.fromEntries(
    Object.keys(some).map((name) => [
      name,
      (payload: unknown, { job }: JobHelpers) => perform(database, name, payload, job),
    ]),
  );

/** The tasks that work on records of an organization. */
const ALL: Readonly<Record<string, Task>> = { ...tasks, ...soleTasks, ...slowTasks };

async function perform(
  database: Database,
  task: string,
  payload: unknown,
  job: Pick<Job, "attempts" | "max_attempts">,
): Promise<void> {
  const { scope, ids } = read(database, payload);
  const run = () => ALL[task]!.run(scope, ids, job.attempts >= job.max_attempts); // of a list above
  await inJobSpan(task, payload as Payload, () => onceSettled(scope, run));
}

function read(database: Database, payload: unknown): { scope: Scope; ids: Payload } {
  const { organizationId, ...ids } = payload as { organizationId: string } & Record<string, string>; // set by Scope.owned
  return { scope: database.scope(organizationId), ids };
}

/** Tasks whose jobs may be given up, and how to store the consequence. A periodic task simply runs at its next time. */
function consequences(
  database: Database,
  periodic: Readonly<Record<string, PeriodicTask>>,
  { countGivenUp: count }: WorkReports,
) {
  return {
    count,
    ...{ tasks: Object.keys(ALL), periodic: Object.keys(periodic) },
    conclude: async (task: string, payload: unknown) => {
      const { scope, ids } = read(database, payload ?? {});
      const { givenUp, record } = ALL[task] ?? {};
      if (!givenUp || !record) return givenUp?.(scope, ids);
      const audited = scope.audited(jobOf(`${task}.givenUp`, record.type, ids[record.id] ?? null));
      await givenUp(audited, ids);
      await audited.storeAudit();
    },
  };
}

/** Performs a job that was started by the statement that requested it. */
const performer =
  (database: Database) =>
  ({ task, payload }: StartedJob): Promise<void> =>
    perform(database, task, payload, { attempts: 1, max_attempts: MAX_ATTEMPTS });

const soleTaskList = (database: Database, pool: Pool): TaskList =>
  Object.fromEntries(
    Object.keys(soleTasks).map((task) => [
      task,
      async (payload: unknown, { job, addJob }: JobHelpers) => {
        // Random, because the number of an attempt that did not count is used again.
        const sole = { name: soleName(task, payload), jobId: job.id, attempt: randomInt(2 ** 31) };
        const entry = await runAlone(pool, sole, () => perform(database, task, payload, job));
        const runAt = currentDate(REQUEUE_DELAY_MS);
        if (entry === "later") await addJob(task, payload, { runAt, maxAttempts: job.max_attempts });
      },
    ]),
  );

const periodicList = (
  database: Database,
  some: Readonly<Record<string, PeriodicTask>>,
  settings: Pick<WorkerOptions, keyof PeriodicSettings | "reports">,
): TaskList =>
  Object.fromEntries(
    Object.entries(some).map(([name, { run }]) => [
      name,
      (_: unknown, { abortSignal }: JobHelpers) =>
        inJobSpan(name, {}, () => run(database, settings, abortSignal)).catch((error: unknown) => {
          if (!abortSignal.aborted) settings.reports.countPeriodicFailure(name);
          throw error;
        }),
    ]),
  );

/** Records that these workers are alive, and requeues the jobs of workers without a heartbeat for `silenceMs`. */
async function heartbeat(pool: Pool, ids: readonly string[], silenceMs: number): Promise<void> {
  await pool.query(
    `insert into worker_heartbeats (worker_id) select unnest($1::text[]) on conflict (worker_id) do update set seen_at = now()`,
    [ids],
  );
  // Workers whose last heartbeat is too old, and workers that took a job and died before their first heartbeat.
  const silent = `
    with silent as (delete from worker_heartbeats where seen_at < now() - $1 * interval '1 millisecond' returning worker_id)
    select worker_id from silent
    union select worker from (
      select locked_by as worker, locked_at as since from graphile_worker.jobs
      union all select worker, begun_at from begun_jobs
    ) as held where since < now() - $1 * interval '1 millisecond'
      and not exists (select 1 from worker_heartbeats where worker_id = worker)`;
  const { rows } = await pool.query<{ worker_id: string }>(silent, [silenceMs]);
  if (rows.length === 0) return;
  const dead = rows.map(({ worker_id }) => worker_id);
  await Promise.all([freeJobs(pool, dead, true), requeue(pool, dead, true)]);
}

/** The first line, up to the error or the delay that graphile-worker appends: repeated messages are counted. */
const withoutDetails = (message: string): string => message.split(/\n| \(|: /, 1)[0]!;

/**
 * Log lines of graphile-worker: errors as one line without a stack in its text, all others (several per job) at debug
 * level.
 */
const jobLog = (logger: Logger): JobLogger =>
  new JobLogger(() => (level, message, { failure, error: err, job } = {}) => {
    if (String(level) !== "error") return logger.debug({}, message);
    if (!failure) return logger.error(err ? { err } : {}, withoutDetails(message));
    const { id, task_identifier: task, attempts, max_attempts: most } = job as Job;
    // The last failure is reported by the event `job:failed`.
    if (attempts < most) logger.warn({ err, task, jobId: id }, "a job failed and will be retried");
  });
