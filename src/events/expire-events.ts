import type { Database } from "../database/database";

/** Of one statement, which the deliveries of the events go with. */
const BATCH = 500;

/** Deletes what happened longer ago than `days`, with its deliveries. What was sent again since then stays as long. */
export async function expireEvents(database: Database, days: number): Promise<void> {
  while ((await database.expireEvents(days, BATCH)) === BATCH);
}
