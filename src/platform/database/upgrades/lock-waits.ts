import { setTimeout as pause } from "node:timers/promises";
import type { Knex } from "knex";
import type pg from "pg";
import type { Logger } from "pino";
import { isDistributed } from "../migrations/is-distributed";

/** Limits of the time for which migrations wait for locks, in ms. */
export interface LockLimits {
  /**
   * Timeout of one wait: every statement that arrives meanwhile for the same table waits too. It is shorter than
   * PostgreSQL's `deadlock_timeout` of 1 s, after which PostgreSQL would end a client's request that waits in turn.
   */
  readonly waitMs: number;
  /**
   * Timeout after an autovacuum was in the way, or after clients have used tables in both orders: longer than
   * `deadlock_timeout`, after which PostgreSQL ends the autovacuum, or the client's transaction, which servers repeat.
   */
  readonly vacuumWaitMs: number;
  /** Pause before the next try, in which the others go on. */
  readonly pauseMs: number;
  /** After this time there is no further try. */
  readonly totalMs: number;
}

export const LOCK_LIMITS: LockLimits = { waitMs: 500, vacuumWaitMs: 2_000, pauseMs: 5_000, totalMs: 600_000 };

/** A session that holds a lock, or waits for it in front of others. */
interface Blocker {
  /** 0 for a prepared transaction. */
  readonly pid: number;
  readonly application: string | null;
  /** Age of its transaction; null if the role may not see it. */
  readonly seconds: number | null;
}

/** Number of times that one wait looks for the sessions that block it. */
const LOOKS = 4;

/** Statements are not read: they may contain data. Only processes of PostgreSQL itself, such as autovacuums, have no user. */
const BLOCKING = `
  select distinct b.pid, a.application_name as application, a.pid is not null and a.usesysid is null as "isVacuum",
    extract(epoch from clock_timestamp() - a.xact_start)::integer as seconds
  from unnest(pg_blocking_pids($1)) b (pid) left join pg_stat_activity a on a.pid = b.pid order by 1`;

/** SQLSTATEs lock_not_available and deadlock_detected. */
export const isLockFailure = (error: unknown): boolean =>
  ["55P03", "40P01"].includes(String((error as { code?: unknown }).code));

/** The table whose lock a session waits for. */
const WANTED = `
  select c.oid::regclass::text as name from pg_locks l join pg_class c on c.oid = l.relation
  where l.pid = $1 and not l.granted and c.relkind in ('r', 'p') limit 1`;

/** One try of work that waits for locks; receives reports of it. */
export interface Waiting {
  /** Timeout of one wait, in ms: the work sets it as `lock_timeout`. */
  readonly waitMs: number;
  /**
   * Tables that earlier tries have waited for in vain, as SQL. A client that used one of them may in turn have waited for a
   * table that the try had locked, so the next try locks them before all others.
   */
  readonly first?: readonly string[];
  /** Process id of the connection that migrates. */
  pid?: number;
  /** Name of the current migration. */
  migration: string;
}

/** Process id of a connection. */
export async function pidOf(client: Pick<pg.ClientBase, "query">): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]!.pid;
}

/** Limits waits for locks until the end of a transaction, on the workers of a Citus cluster too. */
export async function limitLockWaits(trx: Knex, waiting: Waiting): Promise<void> {
  await trx.raw(
    `set local citus.propagate_set_commands = 'local'; set local lock_timeout = ${waiting.waitMs}`,
  );
  const { rows } = await trx.raw<{ rows: { pid: number }[] }>("select pg_backend_pid() as pid");
  waiting.pid = rows[0]!.pid;
}

/** Locks the tables that come first until the end of a transaction. */
export async function lockFirst(trx: Knex, { first = [] }: Waiting): Promise<void> {
  if (first.length > 0 && !(await isDistributed(trx)))
    await trx.raw(`lock table ${first.join(", ")} in access exclusive mode`);
}

/**
 * Repeats work whose waits for locks time out. Each transaction of the work is either done or changes nothing.
 * @param migration name of the work in logs and errors, unless the work reports another
 * @param watcher a connection that is free while the work runs
 * @param work runs with `lock_timeout` set to `waitMs`
 * @throws Error that names the blocking sessions after `limits.totalMs`
 */
export async function repeatForLocks(
  migration: string,
  watcher: pg.Client,
  work: (waiting: Waiting) => Promise<unknown>,
  logger: Pick<Logger, "warn">,
  limits: LockLimits,
): Promise<void> {
  const until = performance.now() + limits.totalMs;
  let { waitMs } = limits;
  let reached = migration;
  let first: readonly string[] = [];
  let isCrossed = false;
  for (;;) {
    const waiting: Waiting = { waitMs, first, migration: reached };
    const watch = new Watch(watcher, waiting);
    const error = await work(waiting).then(
      () => undefined,
      (failure: unknown) => ({ failure }),
    );
    const blockers = await watch.end();
    if (error === undefined) return;
    if (!isLockFailure(error.failure)) throw error.failure;
    reached = waiting.migration;
    const { wanted } = watch;
    // The tables were locked in two orders, both in vain.
    if (wanted !== undefined && first.indexOf(wanted) > 0) isCrossed = true;
    waitMs = watch.sawVacuum || isCrossed ? limits.vacuumWaitMs : limits.waitMs;
    if (wanted !== undefined) first = [wanted, ...first.filter((table) => table !== wanted)];
    if (performance.now() + limits.pauseMs > until)
      throw new Error(neverEnded(waiting.migration, blockers, limits), { cause: error.failure });
    logger.warn(
      { migration: waiting.migration, blocking: blockers, retrySeconds: limits.pauseMs / 1_000 },
      "a migration waits for other transactions and is tried again",
    );
    await pause(limits.pauseMs);
  }
}

/** Looks now and then which sessions the migration waits for; after its timeout nothing shows them any more. */
class Watch {
  private blockers: readonly Blocker[] = [];
  /** Whether an autovacuum was among them. */
  sawVacuum = false;
  /** The table that the work waited for last. */
  wanted: string | undefined;
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>;

  constructor(
    private readonly watcher: pg.Client,
    private readonly waiting: Waiting,
  ) {
    this.running = this.run(waiting.waitMs / LOOKS).catch(() => undefined); // the work tells of a lost database
  }

  /** @returns the sessions of the last wait */
  async end(): Promise<readonly Blocker[]> {
    this.stopping.abort();
    await this.running;
    return this.blockers;
  }

  private async run(pauseMs: number): Promise<void> {
    const { signal } = this.stopping;
    for (;;) {
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      if (this.waiting.pid === undefined) continue;
      const { rows } = await this.watcher.query<Blocker & { isVacuum: boolean }>(BLOCKING, [
        this.waiting.pid,
      ]);
      if (rows.length === 0) continue;
      const wanted = await this.watcher.query<{ name: string }>(WANTED, [this.waiting.pid]);
      this.wanted = wanted.rows[0]?.name ?? this.wanted;
      this.blockers = rows.map(({ isVacuum: _, ...blocker }) => blocker);
      this.sawVacuum = rows.some(({ isVacuum }) => isVacuum);
    }
  }
}

function neverEnded(migration: string, blockers: readonly Blocker[], { totalMs }: LockLimits): string {
  const pids = blockers.filter(({ pid }) => pid !== 0).map(({ pid }) => pid);
  const ends = pids.map((pid) => `SELECT pg_terminate_backend(${pid});`).join(" ");
  return [
    `The migration ${migration} waited ${Math.ceil(totalMs / 60_000)} min for the locks of other transactions and has changed nothing.`,
    ...blockers.map((blocker) => `  - ${describe(blocker)}`),
    `Let these transactions end${ends && `, or end their sessions (${ends})`}. Then start again.`,
  ].join("\n");
}

function describe({ pid, application, seconds }: Blocker): string {
  if (pid === 0) return "a prepared transaction: see pg_prepared_xacts";
  const age = seconds === null ? "of unknown age" : `open for ${seconds} s`;
  return `session ${pid} ("${application ?? ""}"), transaction ${age}`;
}
