import { randomBytes } from "node:crypto";
import pg from "pg";
import { knowsPrepared } from "./pgbouncer";
import { until } from "./until";

export const TEMPLATE = "parley_template";
/** The role that tests run under. It owns no table, so row-level security applies to every query. */
export const APP_ROLE = "parley_app";
/** The role that takes jobs in tests and sees nothing else. */
export const JOBS_ROLE = "parley_jobs";

export interface TestDatabase {
  /** URL for the role that owns nothing; through PgBouncer with `TEST_POOLER=1`. */
  readonly url: string;
  /** URL for the same role past PgBouncer, with `TEST_POOLER=1`. */
  readonly directUrl?: string;
  /** URL for the role that takes jobs. */
  readonly jobsUrl: string;
  /** URL for the owner, to inspect and change data without the service. */
  readonly ownerUrl: string;
  /** Runs a statement as the owner. */
  query<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
  drop(): Promise<void>;
}

/** Creates a database for one test file, copied from the migrated template or from a database that no server uses. */
export async function createDatabase(from?: TestDatabase): Promise<TestDatabase> {
  const template = from === undefined ? TEMPLATE : new URL(from.ownerUrl).pathname.slice(1);
  const postgres = process.env.TEST_POSTGRES!;
  const pooler = process.env.TEST_POOLER_PORT;
  const name = `test_${randomBytes(6).toString("hex")}`;
  const nodes = nodesOf(postgres);
  await Promise.all(nodes.map((url) => copyTemplate(url, name, template)));
  const owner = new URL(postgres);
  owner.pathname = `/${name}`;
  const app = new URL(owner);
  app.username = app.password = APP_ROLE;
  const jobs = new URL(owner);
  jobs.username = jobs.password = JOBS_ROLE;
  // A pool, because polling tests run many statements per second.
  const pool = new pg.Pool({ connectionString: owner.href });
  pool.on("error", () => undefined); // the next query opens another connection
  return {
    url: pooler === undefined ? app.href : withPort(app, pooler),
    ...(pooler !== undefined && { directUrl: app.href }),
    jobsUrl: jobs.href,
    ownerUrl: owner.href,
    query: async (text, values) => (await pool.query(text, values)).rows as never,
    drop: async () => {
      await pool.end();
      for (const url of nodes)
        await despiteMaintenance(() => statement(url, `drop database if exists ${name} with (force)`));
    },
  };
}

const TRIES = 20;

/** Repeats work with a database because maintenance of Citus uses it now and then, so that it can be neither copied nor dropped. */
async function despiteMaintenance(work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await work();
    } catch (error) {
      if (!process.env.TEST_CITUS || tries === TRIES) throw error;
    }
}

/** URLs of a database on each server with a part of it: one, or with `TEST_CITUS=1` all nodes of the cluster. */
export function nodesOf(url: string): string[] {
  const { pathname } = new URL(url);
  const workers = process.env.TEST_CITUS_WORKERS?.split(" ") ?? [];
  return [url, ...workers.map((worker) => Object.assign(new URL(worker), { pathname }).href)];
}

/**
 * Copies the template. The copies of all nodes are a cluster: Citus knows its tables by their object ids, which a copy
 * keeps.
 */
const copyTemplate = (postgres: string, name: string, template: string): Promise<void> =>
  despiteMaintenance(async () => {
    if (process.env.TEST_CITUS)
      await statement(
        postgres,
        `select pg_terminate_backend(pid, 1000) from pg_stat_activity where datname = '${template}'`,
      );
    await statement(postgres, `create database ${name} template ${template} strategy file_copy`);
  });

/** Queues all pending deliveries at once, as servers do from time to time with those that a test or an older server stores. */
export const queueAll = (database: TestDatabase): Promise<unknown> =>
  database.query("select parley_repair_queues('', '', '', '', 1000)");

/** Backends whose statement waits for a lock of another transaction and matches a pattern of `like`. */
const waits = () =>
  process.env.TEST_CITUS
    ? `select waiting_gpid as pid from citus_lock_waits join citus_dist_stat_activity on global_pid = waiting_gpid
       where datname = current_database() and blocked_statement like $1`
    : `select pid from pg_stat_activity
       where wait_event_type = 'Lock' and datname = current_database() and query like $1`;

/** Whether statements wait for a lock of another transaction. @param like a pattern of their text */
export const someoneWaits = async (
  { query }: Pick<TestDatabase, "query">,
  like = "%",
  atLeast = 1,
): Promise<boolean> => (await query(waits(), [like])).length >= atLeast;

/** Ends the connections whose statements wait for a lock, because PostgreSQL would finish those of a dead server. */
export async function endWaits(database: Pick<TestDatabase, "query">, like = "%"): Promise<void> {
  await database.query(`select pg_terminate_backend(pid) from (${waits()}) as waiting`, [like]);
  await until(async () => !(await someoneWaits(database, like)));
}

const withPort = (url: URL | string, port: string) => Object.assign(new URL(url), { port }).href;

/** Settings that name the database of a server. */
interface DatabaseSettings {
  readonly DATABASE_URL?: string;
  readonly DATABASE_DIRECT_URL?: string;
  readonly DATABASE_REPLICA_URL?: string;
  readonly DATABASE_PREPARE?: string;
}

/** The same database behind PgBouncer with `TEST_POOLER=1`, and with a replica with `TEST_REPLICA`. */
export function inTestedPlaces(settings: DatabaseSettings): DatabaseSettings {
  const { TEST_POSTGRES: postgres, TEST_POOLER_PORT: pooler, TEST_REPLICA_PORT: replica } = process.env;
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: direct } = settings;
  if (url === undefined || direct !== undefined || !URL.canParse(url)) return {};
  const { host, username } = new URL(url);
  const owner = new URL(postgres!);
  if (host !== owner.host || ![owner.username, APP_ROLE].includes(username)) return {}; // such as a proxy
  return {
    ...(replica && { DATABASE_REPLICA_URL: withPort(url, replica) }),
    ...(pooler && {
      DATABASE_URL: withPort(url, pooler),
      DATABASE_DIRECT_URL: url,
      DATABASE_PREPARE: knowsPrepared() ? "on" : "off",
    }),
  };
}

/** Runs one statement on a new connection. */
export async function statement(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text).finally(() => client.end());
}
