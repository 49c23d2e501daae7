import { runMigrations } from "graphile-worker";

/** Makes or renews the tables that jobs wait in. */
export async function installJobs(url: string): Promise<void> {
  await runMigrations({ connectionString: url });
}
