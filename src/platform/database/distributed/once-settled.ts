import { setTimeout as sleep } from "node:timers/promises";
import { HOMES } from "../home";
import type { Scope } from "../scope";
import { Statement, type Query } from "../statement";

/** Pause between two looks, and the longest wait, in ms. */
const PAUSE_MS = 10;
const TIMEOUT_MS = 5_000;

interface Prepared {
  readonly gid: string;
}

/** Citus runs it on the worker of the organization. */
const PREPARED = new Statement<Prepared>(
  ({ db }) =>
    db.raw(`
      select p.gid from ${HOMES} home, pg_prepared_xact() p, pg_stat_get_activity(pg_backend_pid()) me
      where home.organization_id = $1 and p.dbid = me.datid`) as unknown as Query<Prepared>,
);

/**
 * Runs a job when the worker of Citus with the organization's rows has committed what is prepared there. The coordinator
 * commits first: a job that is taken at once would not find its rows, and end without having done anything.
 * @throws Error if the wait is long, as after a crash, so that the job is tried again
 */
export async function onceSettled(scope: Scope, job: () => Promise<void>): Promise<void> {
  if (scope.isDistributed) await settled(async () => (await scope.readLong(PREPARED)).map(({ gid }) => gid));
  await job();
}

async function settled(prepared: () => Promise<string[]>): Promise<void> {
  const until = performance.now() + TIMEOUT_MS;
  let waiting = await prepared();
  while (waiting.length > 0) {
    if (performance.now() > until)
      throw new Error("Transactions of other statements are prepared on the worker of Citus.");
    await sleep(PAUSE_MS);
    const left = new Set(await prepared());
    waiting = waiting.filter((gid) => left.has(gid));
  }
}
