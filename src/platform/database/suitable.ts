import type pg from "pg";
import { databaseUrlProblem } from "../settings/database-url";
import { openClient } from "./open-client";

/** Oldest supported major version of PostgreSQL. */
const MIN_VERSION = 15;

/** Extensions that migrations create. */
const EXTENSIONS = ["pg_trgm", "btree_gin"];
const SUITABILITY = `
  select current_setting('server_version_num')::int as version, array_to_string(array(
    select name from unnest($1::text[]) wanted (name)
    where not exists (select from pg_extension where extname = wanted.name)
      and not exists (select from pg_available_extensions one where one.name = wanted.name)), ' and ') as missing`;

/**
 * Why the service cannot use a database, which is not changed; undefined if it can, or if the URL is invalid, which the
 * server reports together with other settings. `npm start` asks before it builds, so this file imports little.
 */
export async function databaseProblem(url: string): Promise<string | undefined> {
  if (databaseUrlProblem(url) !== undefined) return undefined;
  try {
    const client = await openClient(url, "parley check");
    await refuseUnsuitable(client).finally(() => client.end());
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** @throws Error if the PostgreSQL is too old, or lacks an extension */
export async function refuseUnsuitable(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number; missing: string }>(SUITABILITY, [EXTENSIONS]);
  const { version, missing } = rows[0]!;
  const problem = tooOld(version) ?? lacksExtensions(missing);
  if (problem !== undefined) throw new Error(problem);
}

/**
 * The message for an unsupported version of PostgreSQL; undefined if it is supported. @param version as in
 * `server_version_num`
 */
export const tooOld = (version: number): string | undefined =>
  version >= MIN_VERSION * 10_000
    ? undefined
    : `The database (DATABASE_URL) is PostgreSQL ${Math.floor(version / 10_000)}. Version ${MIN_VERSION} or later is required.`;

/** The message for extensions that are neither in the database nor installed with PostgreSQL; undefined for none. */
const lacksExtensions = (missing: string): string | undefined =>
  missing === ""
    ? undefined
    : `This PostgreSQL (DATABASE_URL) lacks ${missing}. Install its contrib modules on its machine: Debian has them in the package postgresql, Fedora and Alpine in postgresql-contrib.`;
