import type { Knex } from "knex";
import type { ClientBase } from "pg";
import { hasCode } from "./embedded-place";

/** One number for all processes on one database; held by a backup while it runs. */
const LOCK = 7_265_781_214;
/** How long a backup waits for the lock, which others hold for the length of one statement. */
const WAIT_MS = 5_000;

const LOCK_NOT_AVAILABLE = "55P03";

/** Announces a backup, before its snapshot is taken. It ends with the connection. */
export async function announceBackup(client: ClientBase): Promise<void> {
  await client.query(`set lock_timeout = ${WAIT_MS}`);
  await client.query("select pg_advisory_lock($1)", [LOCK]).catch((error: unknown) => {
    if (hasCode(error, LOCK_NOT_AVAILABLE)) throw new Error("Another backup of this database is running.");
    throw error;
  });
}

/**
 * Whether a backup may still need a file whose record is gone. Ask after the record's deletion has committed: a backup
 * that begins later doesn't see the record.
 */
export async function backupRuns(db: Knex): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { free: boolean }[] }>(
    "select pg_try_advisory_xact_lock_shared(?) as free",
    [LOCK],
  );
  return !rows[0]!.free;
}
