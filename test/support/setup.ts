import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import pg from "pg";
import type * as embeddedModule from "../../src/platform/database/embedded/embedded";
import type * as rolesModule from "../../src/platform/database/upgrades/roles";
import type * as prepareModule from "../../src/start/prepare";
import { configOf } from "./config";
import { APP_ROLE, JOBS_ROLE, TEMPLATE } from "./database";
import { storeFilesInS3 } from "./files-in-s3";
import { setUpCitus } from "./set-up-citus";
import { keepCluster, useKeptCluster } from "./kept-cluster";
import { ROLE_SETTINGS, startPgBouncer, type PgBouncer } from "./pgbouncer";
import { roomiest } from "./roomiest";
import { SystemPostgres } from "./standby";

const ROOT = join(__dirname, "../..");
/** Loads the service with Node, like everything under test; see runtime.cjs. */
const built = createRequire(join(ROOT, "dist/src/start/app.js"));

/** Time until PostgreSQL's initdb has started. */
const INITDB_BEGINS_MS = 30;

/** The part of jest's configuration that the setup reads. */
interface JestConfig {
  /** The pattern given on the command line; empty for all tests. */
  readonly testPathPattern: string;
}

/**
 * Prepares a run of tests: builds the service, starts a PostgreSQL, creates a migrated template database and the roles.
 */
export default async function setup({ testPathPattern }: JestConfig): Promise<void> {
  const runsAll = testPathPattern === "";
  const needsPages = runsAll || testPathPattern.includes("browser");
  const build = [join(ROOT, "src/cli/launch.mjs"), ...(needsPages ? [] : ["--server"])];
  execFileSync(process.execPath, build, { stdio: "inherit" });
  if (process.env.TEST_CITUS) return setUpCitus(built);
  const { startEmbedded } = built("../platform/database/embedded/embedded") as typeof embeddedModule;
  const dataDir = mkdtempSync(join(roomiest(), "parley-test-"));
  const flags = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=500"];
  // A single test file runs in this process: the service is loaded while another core runs initdb.
  if (!runsAll) setTimeout(() => built("./app"), INITDB_BEGINS_MS);
  const replicated = process.env.TEST_REPLICA;
  const start = () =>
    replicated === undefined
      ? startEmbedded({ dataDir, log: () => undefined, flags })
      : startReplicated(Number(replicated));
  const keeps = !runsAll && replicated === undefined;
  const isMigrated = keeps && useKeptCluster(dataDir);
  let embedded = await start();
  const { prepare } = built("./prepare") as typeof prepareModule;
  const template = new URL(embedded.url);
  template.pathname = `/${TEMPLATE}`;
  if (!isMigrated) await run(embedded.url, `create database ${TEMPLATE}`);
  await prepare(configOf({ DATA_DIR: dataDir }), template.href);
  if (keeps && !isMigrated) {
    await embedded.stop();
    keepCluster(dataDir);
    embedded = await start();
    template.port = new URL(embedded.url).port;
  }
  if (process.env.TEST_RESTORED) await restoreOver(embedded.url, template, dataDir);
  // The roles that `npm run database:roles` creates.
  const { creation, grants, userOf } = built("../platform/database/upgrades/roles") as typeof rolesModule;
  const roles = { owner: userOf(template), serving: APP_ROLE, jobs: JOBS_ROLE };
  await run(template.href, creation(APP_ROLE, APP_ROLE), creation(JOBS_ROLE, JOBS_ROLE), ...grants(roles));
  process.env.TEST_POSTGRES = embedded.url;
  const pooler = process.env.TEST_POOLER ? await poolerOf(template.href) : undefined;
  const stopS3 = process.env.TEST_S3 ? await storeFilesInS3() : undefined;
  const stopTestPostgres = async () => {
    await stopS3?.();
    await pooler?.stop();
    await embedded.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  Object.assign(globalThis, { stopTestPostgres });
}

/** Starts a PostgreSQL of the system with a replica, to run the tests with it. @param seconds by which the replica lags */
async function startReplicated(seconds: number): Promise<{ url: string; stop: () => Promise<void> }> {
  const primary = await SystemPostgres.primary();
  const replica = await primary.replica({
    recovery_min_apply_delay: `${seconds}s`,
    max_standby_streaming_delay: "0", // so that databases can be dropped
  });
  process.env.TEST_REPLICA_PORT = String(replica.port);
  return {
    url: primary.url("postgres"),
    stop: async () => {
      await replica.remove();
      await primary.remove();
    },
  };
}

/** Starts PgBouncer, to run the tests behind it, and gives the roles what a pooler does not pass on. */
async function poolerOf(url: string): Promise<PgBouncer> {
  const { username, password } = new URL(url);
  for (const role of [APP_ROLE, username])
    for (const [name, value] of Object.entries(ROLE_SETTINGS))
      await run(url, `alter role ${role} set ${name} = '${value}'`);
  const pooler = await startPgBouncer(url, { [APP_ROLE]: APP_ROLE, [username]: password });
  process.env.TEST_POOLER_PORT = new URL(pooler.through(url)).port;
  return pooler;
}

/** Replaces the template with a restored and released copy, to run the tests on restored data. */
async function restoreOver(postgres: string, template: URL, dataDir: string): Promise<void> {
  const original = new URL(template);
  original.pathname = "/original";
  await run(postgres, `alter database ${TEMPLATE} rename to original`, `create database ${TEMPLATE}`);
  const folder = join(dataDir, "backup");
  const program = (name: string, url: URL, ...options: string[]) =>
    execFileSync(process.execPath, [join(ROOT, "src/cli/bundle/run.cjs"), `cli/${name}`, ...options], {
      env: {
        ...process.env,
        DATABASE_URL: url.href,
        DATA_DIR: join(dataDir, name),
        ENCRYPTION_KEYS: configOf().ENCRYPTION_KEYS!.join(","),
      },
      stdio: "inherit",
    });
  program("backup", original, folder);
  program("restore", template, folder);
  program("release", template);
}

async function run(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
