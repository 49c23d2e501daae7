import type { Knex } from "knex";
import type { ClientBase } from "pg";
import { hasCode } from "../embedded/files";
import { openClient } from "../connections/open-client";
import { requireDirect } from "../connections/pooler";

/** Key of the advisory lock that a running backup holds. */
const LOCK_KEY = 7_265_781_214;
/** Key of the advisory lock that a running restore or move holds in the database that it fills. */
const RESTORE_KEY = 7_265_781_216;
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

/**
 * Announces a restore or move into a database. Another one would take the rows of this one for the remains of an
 * interrupted restore, and clear them.
 * @returns ends the announcement, which otherwise ends with the process
 * @throws Error if another one is running
 */
export async function announceRestore(url: string): Promise<() => Promise<void>> {
  await requireDirect(url); // a pooler would keep the lock
  const client = await openClient(url, "parley restore");
  const { rows } = await client.query<{ free: boolean }>("select pg_try_advisory_lock($1) as free", [
    RESTORE_KEY,
  ]);
  if (rows[0]!.free) return () => client.end();
  await client.end();
  throw new Error(
    "Another restore or move into this database is running. Wait until it has ended. Nothing was changed.",
  );
}
