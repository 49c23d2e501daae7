import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "@jest/globals";
import pg from "pg";
import { databaseProblem } from "../../src/platform/database/connections/database-problem";
import { load } from "../../src/platform/database/copies/load";
import { openSnapshot } from "../../src/platform/database/copies/snapshot";
import { migrate } from "../../src/platform/database/upgrades/migrate";
import { contentsOf, query } from "../support/installation";
import {
  afterTest,
  emptyDatabase,
  emptyFolder,
  preparedDatabase,
  runToEnd,
  SERVER_TIMEOUT_MS,
  SETTINGS,
  startProgram,
} from "../support/server";
import { until } from "../support/until";

const BROKE_OFF =
  /The connection to PostgreSQL broke off: .*\. Check that PostgreSQL runs, then try again\.\n$/;

/** Starts a command that copies a database, and lets it wait at a table. */
async function copying(program: string, options: (to: string) => string[]) {
  const env = { ...SETTINGS, DATA_DIR: emptyFolder(), DATABASE_URL: await preparedDatabase() };
  const to = await emptyDatabase();
  const holder = new pg.Client({ connectionString: env.DATABASE_URL });
  await holder.connect();
  afterTest(() => holder.end());
  await holder.query("begin; lock table messages");
  const command = startProgram(program, env, ...options(to));
  const waits =
    "select from pg_stat_activity where datname = current_database() and application_name = 'parley backup' and wait_event_type = 'Lock'";
  await until(async () => (await query(env.DATABASE_URL, waits)).length > 0);
  return { env, to, ended: command.ended, goOn: () => holder.query("rollback") };
}

/** Ends all sessions of Parley in a database. */
const endSessions = (url: string) =>
  query(
    url,
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'parley%'",
  );

test.each([
  { message: "read ECONNRESET", code: "ECONNRESET" },
  { message: "select 1 - write EPIPE", code: "EPIPE" },
  { message: "Connection terminated unexpectedly" },
])("an error of a broken connection says what to do: $message", (error) => {
  expect(`${databaseProblem(error)!.message}\n`).toMatch(BROKE_OFF);
  expect(databaseProblem(new Error("duplicate key value"))).toBeUndefined();
});

test(
  "a backup says what to do when PostgreSQL ends its connections",
  async () => {
    const { env, ended } = await copying("cli/backup", () => [join(emptyFolder(), "backup")]);
    await endSessions(env.DATABASE_URL);
    expect(await ended).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(BROKE_OFF) });
  },
  SERVER_TIMEOUT_MS,
);

test(
  "a move says what to do when PostgreSQL ends its connections to the new database, and can be repeated",
  async () => {
    const { env, to, ended, goOn } = await copying("cli/move", (to) => ["--to", to]);
    await endSessions(to);
    await goOn();
    // It depends on which of its statements comes first.
    const advice = new RegExp(
      `an administrator has ended the session: try again in a moment\\.\n$|${BROKE_OFF.source}`,
    );
    expect(await ended).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(advice) });
    expect(await runToEnd("cli/move", env, "--to", to)).toMatchObject({ code: 0 });
    expect(await contentsOf(to)).toEqual(await contentsOf(env.DATABASE_URL));
  },
  SERVER_TIMEOUT_MS,
);

/** The same between two statements. */
const NOT_QUERYABLE = /connection error and is not queryable/;

/** Ends the sessions with a name once one of them does what is wanted. */
async function end(url: string, name: string, which: string): Promise<void> {
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  const text = `select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where application_name = $1 and datname = current_database() and ${which}`;
  await until(async () => (await other.query(text, [name])).rows.length > 0);
  await other.end();
}

test("a backup fails if only the connection that announces it has ended", async () => {
  const url = await preparedDatabase();
  const snapshot = await openSnapshot(url);
  await end(url, "parley backup", "query like '%pg_export_snapshot%'");
  await expect(snapshot.check()).rejects.toThrow(NOT_QUERYABLE);
  expect(await snapshot.rows("select 1 as one")).toEqual([{ one: 1 }]);
  await snapshot.close();
});

test("loading a copy fails if PostgreSQL ends its connection", async () => {
  const url = await preparedDatabase();
  const shape = {
    migrations: [],
    sequences: {},
    at: "",
    tables: [{ name: "organizations", columns: ["id"] }],
  };
  const never = () => new Readable({ read: () => undefined });
  const loaded = load(url, { shape, read: never, readJobs: never });
  const rejected = expect(loaded).rejects.toThrow(/terminat/);
  await end(url, "parley restore", "query like 'copy %'");
  await rejected;
});

test("a start ends instead of working on beside another server if PostgreSQL ends its migration lock", async () => {
  const url = await preparedDatabase();
  let parts = 0;
  const started = migrate(url, async (_, patiently) => {
    await end(url, "parley migration", "true");
    await patiently("part", () => Promise.resolve(void parts++));
  });
  await expect(started).rejects.toThrow("The connection to PostgreSQL broke off");
  expect(parts).toBe(0);
});
