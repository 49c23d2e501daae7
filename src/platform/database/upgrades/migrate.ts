import type { Knex } from "knex";
import type pg from "pg";
import type { Logger } from "pino";
import { connect } from "../connections/connect";
import {
  limitLockWaits,
  lockFirst,
  LOCK_LIMITS,
  repeatForLocks,
  type LockLimits,
  type Waiting,
} from "./lock-waits";
import { migrations } from "../migrations";
import { withSmallSteps } from "../migrations/online-step";
import { interruptOnlineSteps } from "./online-steps";
import { explained, openClient } from "../connections/open-client";
import { refusePooler } from "../connections/pooler";
import { refuseUnsuitable } from "../connections/suitable";
import { mistake } from "../../mistake";

/** Key of the advisory lock that serializes migrations. */
const LOCK_KEY = 7_265_781_213;

/** Migrations by name without file extension, so that compiled and uncompiled servers agree. */
export const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: () => Promise.resolve(Object.keys(migrations)),
  getMigrationName: (name) => name,
  getMigration: (name) => Promise.resolve(withSmallSteps(migrations[name]!)),
};

interface MigrateOptions {
  /** Gets a line for each time that a migration has waited for a lock in vain; printed by default. */
  readonly logger?: Pick<Logger, "warn"> | undefined;
  readonly limits?: LockLimits;
}

/** For commands, which print text. */
const PRINTED: Pick<Logger, "warn"> = {
  warn: (facts: object, message?: string) => console.error(`${message ?? ""}: ${JSON.stringify(facts)}`),
};

/** Runs a named part of a migration, again and again while other transactions hold its locks. */
export type Patiently = (name: string, work: (waiting: Waiting) => Promise<unknown>) => Promise<void>;

/**
 * Migrates the database and runs `afterwards` under a session lock: if several servers start at once, one works and
 * the others wait.
 */
export const migrate = (
  url: string,
  afterwards: (db: Knex, patiently: Patiently) => Promise<void>,
  options?: MigrateOptions,
): Promise<void> =>
  whileOthersWait(
    url,
    async (db, patiently) => {
      const migrated = patiently("", (waiting) => tryMigrations(db, waiting));
      await migrated.catch((error: unknown) => refuseToMigrate(error, url));
      await afterwards(db, patiently);
    },
    options,
  );

/** Runs all new migrations in one transaction. */
async function tryMigrations(db: Knex, waiting: Waiting): Promise<void> {
  if (await isOutdated(db)) await interruptOnlineSteps(db); // an older server begins again meanwhile
  const config: Knex.MigratorConfigWithLifecycleHooks = {
    migrationSource,
    beforeAll: async (trx: Knex) => {
      // In a Citus cluster, a migration may then change a distributed table and a shared one. Others ignore the setting.
      await trx.raw("set local citus.multi_shard_modify_mode = 'sequential'");
      await limitLockWaits(trx, waiting);
      await lockFirst(trx, waiting);
    },
    beforeEach: (_: Knex, [name]: unknown[]) => {
      waiting.migration = String(name);
      return Promise.resolve();
    },
  };
  await db.migrate.latest(config);
}

async function isOutdated(db: Knex): Promise<boolean> {
  if (!(await db.schema.hasTable("knex_migrations"))) return false;
  const applied = await db<{ name: string }>("knex_migrations").select("name");
  return applied.length < Object.keys(migrations).length;
}

/** @throws Error with a remedy if the role may not migrate or the database is read-only, else the original error */
function refuseToMigrate(error: unknown, url: string): never {
  const { message } = error as Error;
  const reason = message.slice(message.lastIndexOf(" - ") + 1).replace(/^- /, "");
  const role = new URL(url).username;
  if (/read-only transaction/.test(message))
    throw new Error(
      `The database is read-only (${reason}). Set DATABASE_URL to the primary, and check default_transaction_read_only of PostgreSQL, of the database and of the role "${role}".`,
      { cause: error },
    );
  if (!/permission denied|must be owner/.test(message)) throw error;
  throw mistake(
    new Error(
      `The role "${role}" may not migrate the database (${reason}). Set DATABASE_OWNER_URL to the URL of the role that owns the tables; for a new database, make that role its owner: ALTER DATABASE … OWNER TO ….`,
      { cause: error },
    ),
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
  // A command of an earlier version that was killed meanwhile has left it; the advisory lock tells whether one works.
  await db.migrate.forceFreeMigrationsLock({ migrationSource });
  await db.migrate.rollback({ migrationSource }, true);
  for (const table of ["knex_migrations", "knex_migrations_lock"]) await db.schema.dropTableIfExists(table);
}

/** Runs `work` under the migration lock. */
export async function whileOthersWait(
  url: string,
  work: (db: Knex, patiently: Patiently) => Promise<void>,
  { logger = PRINTED, limits = LOCK_LIMITS }: MigrateOptions = {},
): Promise<void> {
  const lock = await openClient(url, "parley migration");
  const db = connect(url, { pool: 2 });
  try {
    await refuseUnsuitable(lock);
    await refusePooler(db).catch((error: unknown) => {
      throw explained(error, url);
    });
    await lock.query("set statement_timeout = 0"); // another server may take long, and the role may have a limit
    await lock.query("select pg_advisory_lock($1)", [LOCK_KEY]);
    await refuseNewer(lock).catch((error: unknown) => refuseToMigrate(error, url));
    const checkLock = () => lock.query("select 1"); // another server works once its connection has ended
    const patiently: Patiently = async (name, part) => {
      await checkLock();
      await repeatForLocks(name, lock, part, logger, limits);
    };
    await work(db, patiently)
      .then(checkLock)
      .catch((error: unknown) => {
        throw explained(error, url);
      });
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
    throw mistake(
      new Error(
        `A newer version of Parley has upgraded this database (migration ${unknown.name}): start that version or a later one, or restore a backup made before the upgrade.`,
      ),
    );
}
