import { connect } from "../platform/database/connections/connect";
import { databaseName } from "../platform/database/connections/database-name";
import { newId } from "../platform/database/values/ids";
import { migrate } from "../platform/database/upgrades/migrate";
import { openSnapshot } from "../platform/database/copies/snapshot";
import { fill } from "./restore";

/**
 * Copies a database into an empty one and holds the old one, so that a server accidentally started on it sends
 * nothing. Stored files stay where they are.
 * @param finish migrates the loaded database to this program's version
 * @returns tables that the new database cannot store
 */
export async function moveDatabase(
  from: string,
  to: string,
  finish: () => Promise<unknown>,
): Promise<string[]> {
  await migrate(from, () => Promise.resolve());
  const db = connect(from, { pool: 1 });
  try {
    const { rows } = await db.raw<{ rows: { name: string }[] }>(
      `select application_name as name from pg_stat_activity
       where datname = current_database() and application_name like 'parley listener%' limit 1`,
    );
    if (rows.length > 0)
      throw new Error(
        "A server is running on the database. Stop all servers first: anything written during a move is lost. Nothing was changed.",
      );
    const hold = { id: newId(), reason: "MOVED", note: databaseName(to) };
    await db("holds").where({ reason: "MOVED", finishedAt: null }).delete(); // of an interrupted move
    await db("holds").insert(hold);
    const snapshot = await openSnapshot(from);
    try {
      const skipped = await fill(to, snapshot, { note: undefined, undo: () => Promise.resolve() }, finish);
      await db("holds").where({ id: hold.id }).update({ finishedAt: db.fn.now() });
      return skipped;
    } catch (error) {
      await db("holds").where({ id: hold.id }).delete();
      throw error;
    } finally {
      await snapshot.close();
    }
  } finally {
    await db.destroy();
  }
}
