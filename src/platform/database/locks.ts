import type { Knex } from "knex";

/** Takes a lock until the transaction ends. @returns false if another transaction holds it */
export async function tryLock(db: Knex, name: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { locked: boolean }[] }>(
    "select pg_try_advisory_xact_lock(hashtextextended(?, 0)) as locked",
    [name],
  );
  return rows[0]?.locked === true;
}

/** Takes a lock until the transaction ends; waits for other transactions. */
export async function lock(db: Knex, name: string): Promise<void> {
  await db.raw("select pg_advisory_xact_lock(hashtextextended(?, 0))", [name]);
}
