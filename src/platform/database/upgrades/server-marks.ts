import type { Knex } from "knex";

/**
 * Words that a server lists in the name of its listener's connection, to tell other servers what it knows.
 *
 * - `sums`: the sums of facts. Facts are added up when all servers know them: others would erase the facts of a
 *   conversation only in the table of facts that are in no sum.
 * - `recipe`: recipes of events. Events are stored without a body when all servers know them: others would send nothing.
 * - `blocks`: changes of the lists of logs. Logs are counted in blocks when all servers note these changes: others would
 *   make the counts wrong.
 * - `versions`: versions of assistants. Versions are made when all servers make them: others would change an assistant
 *   without one.
 * - `quarters`: counts of deliveries by quarters of an hour. Deliveries are counted when all servers know them: others
 *   would delete deliveries and leave the counts.
 */
const SERVER_MARKS = ["sums", "recipe", "blocks", "versions", "quarters"];

/** PostgreSQL cuts longer names of connections. */
const MAX_NAME_BYTES = 63;
const NAME = "parley listener ";

/** The name of a server's listener after `NAME`: its marks, then as many ids of its encryption keys as fit. */
export function aboutServer(keyIds: readonly string[]): string {
  let about = SERVER_MARKS.join(",");
  for (const id of keyIds) {
    if (NAME.length + about.length + 1 + id.length > MAX_NAME_BYTES) break;
    about += `,${id}`;
  }
  return about;
}

/** Whether a server without the mark is connected: it is of an older version. */
export async function servesWithout(db: Knex, mark: string): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `select from pg_stat_activity where datname = current_database() and application_name like 'parley listener%'
       and ? <> all (string_to_array(substr(application_name, ${NAME.length + 1}), ',')) limit 1`,
    [mark],
  );
  return rows.length > 0;
}
