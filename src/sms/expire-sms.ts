import type { Database } from "../database/database";

/** Of each table in one statement. */
const BATCH = 500;
/**
 * How many days it is noted that a text came or went. The provider brings one again within minutes, and
 * what is in doubt is looked for there within the hour; what was said stays in the log.
 */
const KEPT_DAYS = 7;

/** Forgets which texts came in and went out a while ago. */
export async function expireSms(database: Database): Promise<void> {
  while ((await database.expireSms(KEPT_DAYS, BATCH)) > 0);
}
