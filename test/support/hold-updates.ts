import pg from "pg";
import { endWaits, nodesOf, type TestDatabase } from "./database";
import { afterTest } from "./server";

/** Any number that the service does not lock. */
const LOCK = 1;

/** Updates that wait. */
export interface HeldUpdates {
  /** Lets them go on. */
  release(): Promise<void>;
  /** Ends their connections, as those of a dead server, and lets later updates pass. */
  end(): Promise<void>;
}

/** Lets updates of a table's rows wait until the test has ended. @param condition on `old` and `new`, of updates that wait */
export async function holdUpdates(
  database: TestDatabase,
  table: string,
  condition = "true",
): Promise<HeldUpdates> {
  // Each node of a cluster runs the triggers of its own rows.
  const holders = await Promise.all(
    nodesOf(database.ownerUrl).map(async (connectionString) => {
      const holder = new pg.Client({ connectionString });
      await holder.connect();
      await holder.query("select pg_advisory_lock($1)", [LOCK]);
      return holder;
    }),
  );
  const [first] = holders as [pg.Client];
  if (process.env.TEST_CITUS) await first.query("set citus.enable_unsafe_triggers = on");
  await first.query(`create function hold_updates() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(${LOCK}); return new; end $$`);
  await first.query(`create trigger hold_updates before update on ${table} for each row
    when (${condition}) execute function hold_updates()`);
  const end = async () => {
    await endWaits(database, `%${table}%`);
    await first.query(`drop trigger if exists hold_updates on ${table}`);
    await first.query("drop function if exists hold_updates");
  };
  afterTest(async () => {
    await end();
    for (const holder of holders) await holder.end();
  });
  return {
    release: async () => {
      for (const holder of holders) await holder.query("select pg_advisory_unlock($1)", [LOCK]);
    },
    end,
  };
}
