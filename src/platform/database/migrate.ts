import type { Knex } from "knex";
import pg from "pg";
import { connect } from "./connect";
import { migrations } from "./migrations";

/** Oldest supported major version of PostgreSQL. */
const MIN_VERSION = 15;

/** Key of the advisory lock that serializes migrations. */
const LOCK_KEY = 7_265_781_213;

/** Migrations by name without file extension, so that compiled and uncompiled servers agree. */
export const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: () => Promise.resolve(Object.keys(migrations)),
  getMigrationName: (name) => name,
  getMigration: (name) => Promise.resolve(migrations[name]!),
};

/**
 * Migrates the database and runs `afterwards` under a session lock: if several servers start at once, one works and
 * the others wait.
 */
export const migrate = (url: string, afterwards: (db: Knex) => Promise<void>): Promise<void> =>
  whileOthersWait(url, async (db) => {
    await db.migrate.latest({ migrationSource }).catch((error: unknown) => refuseToMigrate(error, url));
    await afterwards(db);
  });

/** @throws Error naming the setting if the role may not migrate, else the original error */
function refuseToMigrate(error: unknown, url: string): never {
  if (!/permission denied|must be owner/.test((error as Error).message)) throw error;
  throw new Error(
    `The role "${new URL(url).username}" may not migrate the database. Set DATABASE_OWNER_URL to the URL of the role that owns the tables.`,
    { cause: error },
  );
}

/** Runs only these migrations, which must be the first ones. */
export async function migrateTo(db: Knex, names: readonly string[]): Promise<void> {
  const source = { ...migrationSource, getMigrations: () => Promise.resolve([...names]) };
  await db.migrate.latest({ migrationSource: source });
}

/** Names of migrations that this program lacks because they come from a newer version. */
export const unknownMigrations = (names: readonly string[]): string[] =>
  names.filter((name) => !Object.hasOwn(migrations, name));

/** Reverts all migrations and removes Knex's tables about them. */
export async function unmigrate(db: Knex): Promise<void> {
  await db.migrate.rollback({ migrationSource }, true);
  for (const table of ["knex_migrations", "knex_migrations_lock"]) await db.schema.dropTableIfExists(table);
}

/** Remedies for a failed connection, by codes of the operating system and of PostgreSQL. */
const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "Check that PostgreSQL runs and listens at this address.",
  ENOTFOUND: "Check the host name.",
  "28P01": "Check the user and the password.",
  "28000": "Check the user, and that pg_hba.conf of PostgreSQL admits it from this machine.",
  "3D000": "Check the name, or create the database with createdb.",
  "42501": "Grant the role CONNECT on this database.",
  "53300": "PostgreSQL has no free connection: raise max_connections, or lower DATABASE_POOL.",
};

/** @throws Error naming the setting and a remedy */
export function refuseToConnect(error: unknown): never {
  const advice = ADVICE[(error as { code?: string }).code ?? ""] ?? "Check the URL.";
  throw new Error(`Cannot connect to the database (DATABASE_URL): ${reasonOf(error)}. ${advice}`, {
    cause: error,
  });
}

/** Runs `work` under the migration lock. */
export async function whileOthersWait(url: string, work: (db: Knex) => Promise<void>): Promise<void> {
  const lock = new pg.Client({ connectionString: url, application_name: "parley migration" });
  await lock.connect().catch(refuseToConnect);
  const { rows } = await lock.query<{ version: number }>(
    "select current_setting('server_version_num')::int as version",
  );
  const old = tooOld(rows[0]!.version);
  if (old !== undefined) {
    await lock.end();
    throw new Error(old);
  }
  const db = connect(url, { pool: 2 });
  try {
    await lock.query("select pg_advisory_lock($1)", [LOCK_KEY]);
    await refuseNewer(lock).catch((error: unknown) => refuseToMigrate(error, url));
    await work(db);
  } finally {
    await db.destroy();
    await lock.end();
  }
}

/** @throws Error if a newer version has migrated the database */
async function refuseNewer(client: pg.Client): Promise<void> {
  const { rows: found } = await client.query("select from pg_tables where tablename = 'knex_migrations'");
  if (found.length === 0) return;
  const { rows } = await client.query<{ name: string }>("select name from knex_migrations order by id");
  const unknown = rows.filter(({ name }) => !(name in migrations)).at(-1);
  if (unknown)
    throw new Error(
      `A newer version of Parley has upgraded this database (migration ${unknown.name}): start that version or a later one, or restore a backup made before the upgrade.`,
    );
}

/** If a host has several addresses, Node reports each failure without an overall message. */
function reasonOf(error: unknown): string {
  const { message, errors } = error as AggregateError;
  return message || errors.map((each) => (each as Error).message).join("; ");
}

/**
 * The message for an unsupported version of PostgreSQL; undefined if it is supported. @param version as in
 * `server_version_num`
 */
export const tooOld = (version: number): string | undefined =>
  version >= MIN_VERSION * 10_000
    ? undefined
    : `The database (DATABASE_URL) is PostgreSQL ${Math.floor(version / 10_000)}. Version ${MIN_VERSION} or later is required.`;
