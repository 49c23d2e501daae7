import { join } from "node:path";
import { expect, test } from "@jest/globals";
import pg from "pg";
import { lostConnection } from "../../src/platform/database/connections/lost-connection";
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
  /The connection to PostgreSQL broke off: .*\. Check that PostgreSQL runs, then run the command again\.\n$/;

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
  expect(`${lostConnection(error)!.message}\n`).toMatch(BROKE_OFF);
  expect(lostConnection(new Error("duplicate key value"))).toBeUndefined();
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
    const advice = expect.stringMatching(
      /an administrator has ended the session: try again in a moment\.\n$/,
    );
    expect(await ended).toMatchObject({ code: 1, stdout: "", stderr: advice });
    expect(await runToEnd("cli/move", env, "--to", to)).toMatchObject({ code: 0 });
    expect(await contentsOf(to)).toEqual(await contentsOf(env.DATABASE_URL));
  },
  SERVER_TIMEOUT_MS,
);
