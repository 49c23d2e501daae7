import { runMigrations } from "graphile-worker";

/** Creates or migrates the tables of graphile-worker. */
export async function installJobs(url: string): Promise<void> {
  await runMigrations({ connectionString: url });
}
