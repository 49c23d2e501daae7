import type { Database } from "../database/database";

/** Of each table in one statement. */
const BATCH = 500;
/**
 * How long it is noted that a text came or went, in milliseconds. The provider brings one again within minutes, and
 * what is in doubt is looked for there within the hour; what was said stays in the log.
 */
const KEPT = 7 * 86_400_000;

/** Forgets which texts came in and went out a while ago. */
export async function expireSms(database: Database): Promise<void> {
  const before = new Date(Date.now() - KEPT);
  while ((await database.expireSms(before, BATCH)) > 0);
}
