import type { Knex } from "knex";
import type { ClientBase } from "pg";
import { hasCode } from "./embedded-place";

/** Key of the advisory lock that a running backup holds. */
const LOCK_KEY = 7_265_781_214;
/** Time that a backup waits for the lock, in ms; others hold it for one statement only. */
const LOCK_TIMEOUT_MS = 5_000;

const LOCK_NOT_AVAILABLE = "55P03";

/** Announces a backup before its snapshot is taken. The announcement ends with the connection. */
export async function announceBackup(client: ClientBase): Promise<void> {
  await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await client.query("select pg_advisory_lock($1)", [LOCK_KEY]).catch((error: unknown) => {
    if (hasCode(error, LOCK_NOT_AVAILABLE))
      throw new Error("Another backup of this database is running. Wait until it has ended.");
    throw error;
  });
}

/**
 * Whether a backup may still need a file whose record is deleted. Call this after the deletion has committed: a later
 * backup does not see the record.
 */
export async function backupRuns(db: Knex): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { free: boolean }[] }>(
    "select pg_try_advisory_xact_lock_shared(?) as free",
    [LOCK_KEY],
  );
  return !rows[0]!.free;
}
