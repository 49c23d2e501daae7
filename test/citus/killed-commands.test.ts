import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { createCluster, databaseAt, queryAt, rowsAt, startCitus, type CitusCluster } from "../support/citus";
import { elsewhere, waitingInstallation } from "../support/installation";
import {
  afterTests,
  emptyFolder,
  runToEnd,
  SERVER_TIMEOUT_MS,
  startServer,
  type Env,
} from "../support/server";
import { contents, FAILED, heldBack, INTERRUPTIONS, resultOf, waits } from "./interruptions";

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
  before = await contents(url);
}, TIMEOUT_MS);

describe("`npm run distribute`", () => {
  const tables = () => rowsAt(url, "select logicalrelid::text from pg_dist_partition");

  /** It waits shortly before its end: all rows are copied, and nothing is committed. */
  const nearlyDone = () =>
    heldBack(env, "alter function parley_readings() cost 101", "parley distribute", "cli/distribute");

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
      expect(await interrupt(await nearlyDone(), cluster)).toMatchObject(resultOf(killed));
      expect(await contents(url)).toEqual(before);
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
      expect(await contents(url)).toEqual(before);
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
      expect(await contents(url)).toEqual(before);
      const again = await runToEnd("cli/distribute", env);
      expect(again).toMatchObject({ code: 0, stdout: "All tables are distributed already.\n" });
      expect(await rowsAt(url, "select pg_relation_size('messages')::integer as bytes")).toEqual([
        { bytes: 0 },
      ]);
      expect(await contents(url)).toEqual(before);
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
      const command = await heldBack(env, lock, "parley backup", "cli/backup", folder);
      expect(await interrupt(command, cluster)).toMatchObject(resultOf(killed));
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
      expect(await contents(copy.DATABASE_URL!)).toEqual(await contents(url));
    },
    TIMEOUT_MS,
  );
});
