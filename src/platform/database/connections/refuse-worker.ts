import type pg from "pg";
import { mistake } from "../../mistake";

export const ON_WORKER =
  "DATABASE_URL leads to a worker of a Citus cluster: set it to the address of the coordinator.";

/** @throws Error if a database with Citus is that of a worker */
export async function refuseWorker(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query("select from pg_dist_local_group where groupid <> 0");
  if (rowCount !== 0) throw mistake(new Error(ON_WORKER));
}
