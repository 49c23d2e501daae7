import { setTimeout as pause } from "node:timers/promises";
import type { Knex } from "knex";
import type pg from "pg";
import type { Logger } from "pino";
import { connect } from "../connections/connect";
import { onlineSteps } from "../migrations";
import { indexOf, isDone, runBatch, type OnlineStep } from "../migrations/online-step";
import { openClient } from "../connections/open-client";
import { trySwitch } from "./try-switch";

/** Key of the advisory lock of the server that performs steps. */
const LOCK_KEY = 7_265_781_215;
/** Pause after a failure, and while another server performs the steps or an older one is connected, in ms. */
const RETRY_PAUSE_MS = 30_000;

/**
 * Performs the parts of migrations that take long on large tables, one after another, while servers run: indexes are
 * built concurrently, back-fills change rows in batches. One server works; the others look now and then whether it
 * still does. A broken index is dropped and built again; a back-fill continues after its last batch; a switch waits
 * until no server of an older version has been connected for a pause.
 */
export class OnlineSteps {
  private left: readonly OnlineStep[] = [];
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>;
  /** Process id of the connection that builds indexes. */
  private builder: number | undefined;

  /** @param url database URL of the tables' owner; without one it performs nothing */
  constructor(
    private readonly url: string | undefined,
    private readonly logger: Pick<Logger, "info" | "warn">,
    private readonly steps: readonly OnlineStep[] = onlineSteps,
    private readonly retryPauseMs = RETRY_PAUSE_MS,
  ) {
    this.running = url === undefined ? Promise.resolve() : this.run(url);
  }

  /** Names of the steps that are not done yet. */
  pending(): string[] {
    return this.left.map(({ name }) => name);
  }

  /** Resolves when all steps are done, or after a stop. */
  async ended(): Promise<void> {
    await this.running;
  }

  /** Interrupts the current step; the next start continues it. */
  async stop(): Promise<void> {
    this.stopping.abort();
    // A build whose connection is lost ends with it.
    if (this.url !== undefined && this.builder !== undefined)
      await cancel(this.url, this.builder).catch(() => undefined);
    await this.running;
  }

  private async run(url: string): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const isOver = await this.tryAll(url).catch((error: unknown) => {
        if (!signal.aborted)
          this.logger.warn(
            { err: error, pending: this.pending() },
            "an online step failed and is repeated later",
          );
        return false;
      });
      if (isOver) return;
      await pause(this.retryPauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** @returns whether all steps are done; false also if another server performs them, or if a switch has to wait */
  private async tryAll(url: string): Promise<boolean> {
    const db = connect(url, { pool: 1, name: "parley online steps" });
    try {
      await this.look(db);
      if (this.left.length === 0) return true;
      const client = await openClient(url, "parley online steps");
      try {
        return await this.performAll(db, client);
      } finally {
        this.builder = undefined;
        await client.end().catch(() => undefined);
      }
    } finally {
      await db.destroy();
    }
  }

  private async performAll(db: Knex, client: pg.Client): Promise<boolean> {
    // Never waits for the lock: a waiting statement keeps a snapshot, for whose end a concurrent build waits in turn.
    const { rows } = await client.query<{ locked: boolean; pid: number }>(
      "select pg_try_advisory_lock($1) as locked, pg_backend_pid() as pid",
      [LOCK_KEY],
    );
    if (!rows[0]!.locked) return false;
    this.builder = rows[0]!.pid;
    await client.query("set statement_timeout = 0");
    await this.look(db);
    for (const step of this.left) {
      if (this.waits(step)) continue;
      await (step.kind === "switch" ? this.switch(db, step) : this.perform(db, client, step));
      await this.look(db);
    }
    return this.left.length === 0;
  }

  /** Whether the step must not begin before a switch that is not made yet. */
  private waits(step: OnlineStep): boolean {
    return step.kind === "backfill" && this.left.some(({ name }) => name === step.after);
  }

  private async switch(db: Knex, step: OnlineStep & { kind: "switch" }): Promise<void> {
    if (await trySwitch(db, step, this.retryPauseMs))
      this.logger.info({ step: step.name }, "an online step is done");
  }

  private async perform(db: Knex, client: pg.Client, step: LongStep): Promise<void> {
    const startedAt = performance.now();
    this.logger.info({ step: step.name, table: step.table }, "an online step has started");
    await (step.kind === "index" ? build(client, step) : this.backfill(db, step));
    this.stopping.signal.throwIfAborted();
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    this.logger.info({ step: step.name, table: step.table, seconds }, "an online step is done");
  }

  /** Runs batches with pauses of the same length, so that they use at most half the time of a connection. */
  private async backfill(db: Knex, step: OnlineStep & { kind: "backfill" }): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const startedAt = performance.now();
      if (!(await db.transaction((trx) => runBatch(trx, step)))) return;
      await pause(performance.now() - startedAt, undefined, { signal }).catch(() => undefined);
    }
  }

  private async look(db: Knex): Promise<void> {
    const left: OnlineStep[] = [];
    for (const step of this.steps) if (!(await isDone(db, step))) left.push(step);
    this.left = left;
  }
}

type LongStep = Exclude<OnlineStep, { kind: "switch" }>;

async function cancel(url: string, pid: number): Promise<void> {
  const client = await openClient(url, "parley online steps");
  await client.query("select pg_cancel_backend($1::integer)", [pid]).finally(() => client.end());
}

/** Builds an index; the invalid rest of an interrupted build is dropped first. */
async function build(client: pg.Client, step: OnlineStep & { kind: "index" }): Promise<void> {
  const { name, table, columns } = step;
  await client.query(`drop index concurrently if exists ${name}`);
  await client.query(`create ${indexOf(step)} concurrently ${name} on ${table} ${columns}`);
}

/** Interrupts an index build of another server, whose lock a migration of the table would wait for. */
export async function interruptOnlineSteps(db: Knex): Promise<void> {
  await db.raw(
    `select pg_cancel_backend(pid) from pg_locks
     where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())
       and (classid::bigint << 32 | objid::bigint) = ? and objsubid = 1 and granted`,
    [LOCK_KEY],
  );
}
