import { runMigrations } from "graphile-worker";
import pg from "pg";
import { pidOf, type Waiting } from "../database/upgrades/lock-waits";

/** Creates or migrates the tables of graphile-worker. */
export async function installJobs(url: string, waiting: Waiting): Promise<void> {
  const pgPool = new pg.Pool({
    connectionString: url,
    max: 1,
    options: `-c lock_timeout=${waiting.waitMs}`,
  });
  const ignored = () => undefined; // the running statement fails with it
  pgPool.on("error", ignored).on("connect", (client) => void client.on("error", ignored));
  try {
    waiting.pid = await pidOf(pgPool); // that of the only connection
    await runMigrations({ pgPool });
  } finally {
    await pgPool.end();
  }
}
