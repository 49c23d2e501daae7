import type { Database } from "../../platform/database/database";
import { inBatches } from "../../platform/jobs/rest";
import { addFacts } from "./add-facts";
import { measureLiveChats } from "./live-facts";

/** Chats per statement. A batch reads all that was said in them, some 1 ms for a long conversation. */
const BATCH_SIZE = 25;

/**
 * Stores the facts of ended chats, and what live ones have so far, so that statistics read one narrow row per chat
 * instead of its messages. Rests after each batch.
 * @param stop ends the run after the batch at hand, when the server stops
 */
export async function keepFacts(database: Database, stop?: AbortSignal): Promise<void> {
  await inBatches(async () => (await database.keepFacts(BATCH_SIZE)) === BATCH_SIZE, stop);
  await inBatches(() => database.recountFacts(BATCH_SIZE), stop);
  await measureLiveChats(database, stop);
}

/** Adds the stored facts of all organizations to the sums that statistics read. Rests after each batch. */
export async function sumFacts(database: Database, stop?: AbortSignal, most?: number): Promise<void> {
  if (await database.servesWithoutSums()) return;
  for (const id of await database.unsummedOrganizations()) {
    if (stop?.aborted) return;
    await addFacts(database.scope(id), { most, stop });
  }
}
