import type { Config } from "../../settings/config";
import { openClient } from "./open-client";
import { mistake } from "../../mistake";

/** `system` is the same in all copies of a PostgreSQL. */
const FACTS = `
  select pg_is_in_recovery() as follows, (select system_identifier::text from pg_control_system()) as system,
    current_database() as database`;

/** The PostgreSQL and the database that a URL leads to. */
export interface ServerFacts {
  readonly follows: boolean;
  readonly system: string;
  readonly database: string;
}

export async function serverFacts(url: string): Promise<ServerFacts> {
  const client = await openClient(url, "parley check");
  const { rows } = await client.query<ServerFacts>(FACTS).finally(() => client.end());
  return rows[0]!;
}

/** Settings whose URLs lead to the database of DATABASE_URL, by another way or with another role. */
const OTHER_URLS = ["DATABASE_DIRECT_URL", "DATABASE_OWNER_URL", "DATABASE_JOBS_URL"] as const;

/**
 * Checks that all URLs lead to one database. Otherwise jobs would wait in one that nobody reads, or migrations would
 * change another than requests use. URLs that do not answer are not compared: commands of the owner do not need them, and a
 * server says what is wrong when it uses them.
 * @throws Error naming the setting that leads elsewhere
 */
export async function refuseOtherDatabases(
  config: Pick<Config, "DATABASE_URL" | (typeof OTHER_URLS)[number]>,
): Promise<void> {
  const { DATABASE_URL: url } = config;
  const names = OTHER_URLS.filter((name) => config[name] !== undefined && config[name] !== url);
  if (url === undefined || names.length === 0) return;
  const known = (one: string) => serverFacts(one).catch(() => undefined);
  const own = await known(url);
  if (!own) return;
  for (const name of names) {
    const found = await known(config[name]!);
    if (!found) continue;
    if (found.system !== own.system)
      throw mistake(
        new Error(
          `${name} names another PostgreSQL than DATABASE_URL. Name the same database in both, by another role or past a pooler.`,
        ),
      );
    refuseOtherName(name, found, own);
  }
}

/** @throws Error if a setting leads to a database of another name than DATABASE_URL, which leads to `own` */
export function refuseOtherName(
  setting: string,
  found: Pick<ServerFacts, "database">,
  own: Pick<ServerFacts, "database">,
): void {
  if (found.database !== own.database)
    throw mistake(
      new Error(
        `${setting} names the database "${found.database}", but DATABASE_URL names "${own.database}". Name the same database in both.`,
      ),
    );
}
