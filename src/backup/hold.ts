import { recordCommand } from "../account/audit/record-command";
import type { Database } from "../platform/database/database";
import { currentHold, type Hold } from "../platform/database/connections/holds";
import { newId } from "../platform/database/values/ids";

/**
 * Holds an installation whose database was restored by other means, and records it in the audit log of every
 * organization. Servers learn of it at their start.
 * @param note where its data is from
 * @returns the hold, which may have been there before
 * @throws Error if servers are running on the database
 */
export async function hold(database: Database, note: string): Promise<Hold> {
  const servers = await database.runningServers();
  if (servers > 0)
    throw new Error(
      "Servers are running on this database and may have sent pending work already. Stop them, restore again, then run `npm run hold` before the first start.",
    );
  return database.transaction(async (database, db) => {
    const held = await currentHold(db);
    if (held) return held;
    await db("holds").insert({ id: newId(), reason: "RESTORED", note, finishedAt: db.fn.now() });
    await recordCommand(database, "hold", [{ name: "note" }]);
    return (await currentHold(db))!; // inserted above
  });
}
