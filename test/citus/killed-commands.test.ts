import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { TWO_PHASE_TABLE } from "../../src/platform/database/distributed/distribute";
import { HOMES } from "../../src/platform/database/home";
import { createCluster, databaseAt, queryAt, rowsAt, startCitus, type CitusCluster } from "../support/citus";
import { contentsOf, elsewhere, waitingInstallation } from "../support/installation";
import {
  afterTest,
  afterTests,
  emptyFolder,
  runToEnd,
  SERVER_TIMEOUT_MS,
  startProgram,
  startServer,
  type Env,
  type ProcessResult,
} from "../support/server";
import { until } from "../support/until";

const TIMEOUT_MS = 4 * SERVER_TIMEOUT_MS;

let cluster: CitusCluster;
let url: string;
let env: Env;
let chatId: string;
/** All rows before the first command. */
let before: Record<string, string[]>;
beforeAll(async () => {
  cluster = await startCitus(2, { synchronous_commit: "on", "citus.recover_2pc_interval": "2s" });
  afterTests(() => cluster.stop());
  url = await createCluster(cluster, "parley");
  const installation = await waitingInstallation(afterTests, url);
  ({ env, chatId } = installation);
  await installation.server.end("SIGTERM");
  before = await contents();
}, TIMEOUT_MS);

/** All rows, without those that only a distributed database has. */
async function contents(of = url) {
  const { [HOMES]: _homes, [TWO_PHASE_TABLE]: _commits, ...all } = await contentsOf(of);
  return all;
}

/** Waits until a session of the database waits. @param name its application_name */
const waits = (at: string, wait: string, name = "%") =>
  until(async () => {
    const text = `select from pg_stat_activity where ${wait} and application_name like '${name}'`;
    return (await rowsAt(at, text)).length > 0;
  });

/** Starts a command, and lets it wait for a lock. @returns the command, and a function that lets it go on */
async function heldBack(lock: string, name: string, program: string, ...options: string[]) {
  const holder = new pg.Client({ connectionString: url });
  holder.on("error", () => undefined);
  await holder.connect();
  await holder.query(`begin; ${lock}`);
  const command = startProgram(program, env, ...options);
  const goOn = () => holder.end();
  afterTest(goOn);
  await waits(url, "wait_event_type = 'Lock'", name);
  return { ...command, goOn };
}
type Command = Awaited<ReturnType<typeof heldBack>>;

/** Ways to interrupt a command; each ends with a whole cluster. */
const INTERRUPTIONS: Readonly<Record<string, (command: Command) => Promise<ProcessResult>>> = {
  "the command": async ({ kill, goOn }) => {
    const result = await kill();
    await goOn();
    return result;
  },
  "a worker": async ({ ended, goOn }) => {
    await cluster.workers[1]!.kill();
    await goOn();
    const result = await ended;
    await cluster.workers[1]!.start();
    return result;
  },
  "the coordinator": async ({ ended }) => {
    await cluster.coordinator.kill();
    const result = await ended;
    await cluster.coordinator.start();
    return result;
  },
};
/** The line that a command prints when PostgreSQL ends, without a stack trace. */
const SAYS_WHAT_TO_DO = /^Database: .*\n.*(try again|run the command again).*\n$/;
const KILLED = { code: null, stdout: "" };
const FAILED = { code: 1, stdout: "", stderr: expect.stringMatching(SAYS_WHAT_TO_DO) };
const resultOf = (killed: string) => (killed === "the command" ? KILLED : FAILED);

describe("`npm run distribute`", () => {
  const tables = () => rowsAt(url, "select logicalrelid::text from pg_dist_partition");

  /** It waits shortly before its end: all rows are copied, and nothing is committed. */
  const nearlyDone = () =>
    heldBack("alter function parley_readings() cost 101", "parley distribute", "cli/distribute");

  /** Makes commits of a PostgreSQL wait, once they are written, for a standby that never answers. @returns ends this */
  async function holdCommits(postgres: string) {
    const set = async (change: string) => {
      await queryAt(postgres, `alter system ${change}`);
      await queryAt(postgres, "select pg_reload_conf()");
    };
    await set("set synchronous_standby_names = 'nobody'");
    return () => set("reset synchronous_standby_names");
  }

  test.each(Object.entries(INTERRUPTIONS))(
    "changes nothing if %s is killed after all rows are copied",
    async (killed, interrupt) => {
      expect(await interrupt(await nearlyDone())).toMatchObject(resultOf(killed));
      expect(await contents()).toEqual(before);
      expect(await tables()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    "changes nothing if the coordinator is killed while the workers prepare its commit",
    async () => {
      const { goOn, ended } = await nearlyDone();
      const worker = databaseAt(cluster.workers[1]!.url, "parley");
      const release = await holdCommits(worker);
      await goOn();
      await waits(worker, "wait_event = 'SyncRep'");
      await cluster.coordinator.kill();
      expect(await ended).toMatchObject(FAILED);
      await release();
      await cluster.coordinator.start();
      expect(await contents()).toEqual(before);
      expect(await tables()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    "has distributed all rows if the coordinator is killed after its commit, and a second run finishes",
    async () => {
      const { goOn, ended } = await nearlyDone();
      const release = await holdCommits(cluster.coordinator.url);
      await goOn();
      await waits(url, "wait_event = 'SyncRep'", "parley distribute");
      await cluster.coordinator.kill();
      expect(await ended).toMatchObject(FAILED);
      await cluster.coordinator.start();
      await release();
      expect(await contents()).toEqual(before);
      const again = await runToEnd("cli/distribute", env);
      expect(again).toMatchObject({ code: 0, stdout: "All tables are distributed already.\n" });
      expect(await rowsAt(url, "select pg_relation_size('messages')::integer as bytes")).toEqual([
        { bytes: 0 },
      ]);
      expect(await contents()).toEqual(before);
      const { api, end } = await startServer(env);
      const { chat } = await api.gql("query ($id: ID!) { chat(id: $id) { messages { content } } }", {
        id: chatId,
      });
      expect(chat.messages).toEqual([{ content: "Is anybody there?" }]);
      await end("SIGTERM");
    },
    TIMEOUT_MS,
  );
});

describe("a backup of a cluster", () => {
  test.each(Object.entries(INTERRUPTIONS))(
    "is never taken for a whole one if %s is killed, and the next one is whole",
    async (killed, interrupt) => {
      const folder = join(emptyFolder(), "backup");
      const lock = "lock table messages in access exclusive mode";
      const command = await heldBack(lock, "parley backup", "cli/backup", folder);
      expect(await interrupt(command)).toMatchObject(resultOf(killed));
      const name = `restored_${Object.keys(INTERRUPTIONS).indexOf(killed)}`;
      await queryAt(cluster.coordinator.url, `create database ${name}`);
      const copy = elsewhere(env, databaseAt(cluster.coordinator.url, name));
      expect(await runToEnd("cli/restore", copy, folder)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("is not a complete backup"),
      });
      // Only a command that was killed itself leaves its parts.
      const whole = killed === "the command" ? join(emptyFolder(), "backup") : folder;
      if (whole !== folder)
        expect(await runToEnd("cli/backup", env, folder)).toMatchObject({
          code: 1,
          stderr: expect.stringContaining("is not empty. Name a new folder"),
        });
      expect(await runToEnd("cli/backup", env, whole)).toMatchObject({ code: 0 });
      expect(await runToEnd("cli/restore", copy, whole)).toMatchObject({ code: 0 });
      expect(await contents(copy.DATABASE_URL)).toEqual(await contents());
    },
    TIMEOUT_MS,
  );
});
