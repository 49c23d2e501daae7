import type { Database } from "../../platform/database/database";

/** Chats per statement. */
const BATCH_SIZE = 500;

/** Stores the facts of ended chats, so that statistics read one narrow row per chat instead of its messages. */
export async function keepFacts(database: Database): Promise<void> {
  while ((await database.keepFacts(BATCH_SIZE)) === BATCH_SIZE);
  while (await database.recountFacts(BATCH_SIZE));
}
