import type { Knex } from "knex";
import pg from "pg";
import { connect } from "./connect";
import { migrations } from "./migrations";

/** The oldest PostgreSQL that the service runs on. */
const OLDEST = 15;

/** One number for all instances of the service on one database. */
const LOCK = 7_265_781_213;

/** Migrations by name, without file extensions: the compiled and the TypeScript form are the same migration. */
export const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: () => Promise.resolve(Object.keys(migrations)),
  getMigrationName: (name) => name,
  getMigration: (name) => Promise.resolve(migrations[name]!),
};

/**
 * Brings the database up to date and runs `afterwards`, under a session lock: of several instances that start at
 * once one works and the others wait.
 */
export const migrate = (url: string, afterwards: (db: Knex) => Promise<void>): Promise<void> =>
  whileOthersWait(url, async (db) => {
    await db.migrate.latest({ migrationSource }).catch((error: unknown) => refuseToMigrate(error, url));
    await afterwards(db);
  });

/** @throws Error that names the setting when the role owns nothing, else the error itself */
function refuseToMigrate(error: unknown, url: string): never {
  if (!/permission denied|must be owner/.test((error as Error).message)) throw error;
  throw new Error(
    `The role "${new URL(url).username}" may not migrate the database. Set DATABASE_OWNER_URL to the URL of the role that owns the tables.`,
    { cause: error },
  );
}

/** Runs these migrations and no others. They must be the first ones of all. */
export async function migrateTo(db: Knex, names: readonly string[]): Promise<void> {
  const source = { ...migrationSource, getMigrations: () => Promise.resolve([...names]) };
  await db.migrate.latest({ migrationSource: source });
}

/** Names of migrations that this program lacks: whoever ran them was newer. */
export const unknownMigrations = (names: readonly string[]): string[] =>
  names.filter((name) => !Object.hasOwn(migrations, name));

/** Takes every migration back, and Knex's notes about them. */
export async function unmigrate(db: Knex): Promise<void> {
  await db.migrate.rollback({ migrationSource }, true);
  for (const table of ["knex_migrations", "knex_migrations_lock"]) await db.schema.dropTableIfExists(table);
}

/** Runs `work` under the lock that migrations run under. */
export async function whileOthersWait(url: string, work: (db: Knex) => Promise<void>): Promise<void> {
  const lock = new pg.Client({ connectionString: url, application_name: "parley migration" });
  await lock.connect().catch((error: unknown) => {
    throw new Error(`Cannot connect to the database (DATABASE_URL): ${reasonOf(error)}`, { cause: error });
  });
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
    await lock.query("select pg_advisory_lock($1)", [LOCK]);
    await refuseNewer(lock).catch((error: unknown) => refuseToMigrate(error, url));
    await work(db);
  } finally {
    await db.destroy();
    await lock.end();
  }
}

/** @throws Error when a newer version has migrated the database, whose tables this one does not know */
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

/** Of a host with several addresses Node tells each failure, and no message of its own. */
function reasonOf(error: unknown): string {
  const { message, errors } = error as AggregateError;
  return message || errors.map((each) => (each as Error).message).join("; ");
}

/** What is said of a PostgreSQL that lacks what the service uses. @param version as in `server_version_num` */
export const tooOld = (version: number): string | undefined =>
  version >= OLDEST * 10_000
    ? undefined
    : `The database (DATABASE_URL) is PostgreSQL ${Math.floor(version / 10_000)}. Version ${OLDEST} or later is needed.`;
