import type { Database } from "../../platform/database/database";
import { addFacts } from "./add-facts";

/** Chats per statement. */
const BATCH_SIZE = 500;

/** Stores the facts of ended chats, so that statistics read one narrow row per chat instead of its messages. */
export async function keepFacts(database: Database): Promise<void> {
  while ((await database.keepFacts(BATCH_SIZE)) === BATCH_SIZE);
  while (await database.recountFacts(BATCH_SIZE));
}

/** Adds the stored facts of all organizations to the sums that statistics read. */
export async function sumFacts(database: Database, most?: number): Promise<void> {
  if (await database.servesWithoutSums()) return;
  for (const id of await database.unsummedOrganizations()) await addFacts(database.scope(id), most);
}
