import type pg from "pg";
import { databaseUrlProblem } from "../../settings/database-url";
import { refuseWorker } from "./refuse-worker";
import { openClient } from "./open-client";
import { mistake } from "../../mistake";

/** Oldest supported major version of PostgreSQL. */
const MIN_VERSION = 15;

/** Extensions that migrations create. */
const EXTENSIONS = ["pg_trgm", "btree_gin"];
const SUITABILITY = `
  select current_setting('server_version_num')::int as version, getdatabaseencoding() as encoding,
    to_regclass('knex_migrations') is not null as used,
    exists (select from pg_extension where extname = 'citus') as "hasCitus", array_to_string(array(
    select name from unnest($1::text[]) wanted (name)
    where not exists (select from pg_extension where extname = wanted.name)
      and not exists (select from pg_available_extensions one where one.name = wanted.name)), ' and ') as missing`;
const LETTERS = "select getdatabaseencoding() as encoding, 'ZÜRICH' ilike 'zürich' as knows";

interface Facts {
  readonly version: number;
  readonly missing: string;
  readonly encoding: string;
  /** Whether Parley has tables there: older versions accepted other encodings. */
  readonly used: boolean;
  readonly hasCitus: boolean;
}

/**
 * Why the service cannot use a database, which is not changed; undefined if it can, or if the URL is invalid, which the
 * server reports together with other settings. `npm start` asks before it builds, so this file imports little.
 */
export async function databaseProblem(url: string): Promise<Error | undefined> {
  if (databaseUrlProblem(url) !== undefined) return undefined;
  try {
    const client = await openClient(url, "parley check");
    await refuseUnsuitable(client).finally(() => client.end());
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** @throws Error if the PostgreSQL is too old, lacks an extension or is a worker, or if a new database is not in UTF8 */
export async function refuseUnsuitable(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Facts>(SUITABILITY, [EXTENSIONS]);
  const { version, missing, encoding, used, hasCitus } = rows[0]!;
  const problem = tooOld(version) ?? lacksExtensions(missing) ?? (used ? undefined : notUtf8(encoding));
  if (problem !== undefined) throw mistake(new Error(problem));
  if (hasCitus) await refuseWorker(client);
}

/** Why searches miss letters such as "Ü" in a database that can otherwise be used; undefined if they do not. */
export async function searchProblem(url: string): Promise<string | undefined> {
  const client = await openClient(url, "parley check");
  const { rows } = await client
    .query<{ encoding: string; knows: boolean }>(LETTERS)
    .finally(() => client.end());
  const { encoding, knows } = rows[0]!;
  if (knows) return undefined;
  const reason = encoding === UTF8 ? "locale whose lc_ctype knows only ASCII" : `encoding ${encoding}`;
  return `The database (DATABASE_URL) has ${encoding === UTF8 ? "a" : "the"} ${reason}: searches that ignore case miss letters such as "Ü". Create another database: ${CREATION}. Then run \`npm run move\`.`;
}

const UTF8 = "UTF8";
const CREATION = "create database … encoding 'UTF8' locale 'C.UTF-8' template template0";

/** The message for a new database with another encoding; undefined for UTF8. */
const notUtf8 = (encoding: string): string | undefined =>
  encoding === UTF8
    ? undefined
    : `The database (DATABASE_URL) has the encoding ${encoding}, which cannot store all languages. Create one in UTF8: ${CREATION}.`;

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
