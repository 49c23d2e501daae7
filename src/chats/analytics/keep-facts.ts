import type { Database } from "../../platform/database/database";

/** Of one statement. */
const BATCH = 500;

/** Keeps the facts of chats that have ended, so that statistics read a narrow row of each and not what was said. */
export async function keepFacts(database: Database): Promise<void> {
  while ((await database.keepFacts(BATCH)) === BATCH);
}
