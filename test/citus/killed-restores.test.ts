import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { createCluster, queryAt, rowsAt, startCitus, type CitusCluster } from "../support/citus";
import { elsewhere, waitingInstallation } from "../support/installation";
import { afterTests, emptyFolder, runToEnd, SERVER_TIMEOUT_MS, type Env } from "../support/server";
import { contents, held, heldBack, INTERRUPTIONS, waits } from "./interruptions";

const TIMEOUT_MS = 6 * SERVER_TIMEOUT_MS;

let cluster: CitusCluster;
let env: Env;
let backup: string;
/** All rows of the backup. */
let rows: Record<string, string[]>;
beforeAll(async () => {
  cluster = await startCitus(2, { synchronous_commit: "on", "citus.recover_2pc_interval": "2s" });
  afterTests(() => cluster.stop());
  const url = await createCluster(cluster, "original");
  const installation = await waitingInstallation(afterTests, url);
  ({ env } = installation);
  await installation.server.end("SIGTERM");
  backup = join(emptyFolder(afterTests), "backup");
  expect(await runToEnd("cli/backup", env, backup)).toMatchObject({ code: 0 });
  rows = await contents(url);
}, TIMEOUT_MS);

let copies = 0;
/** The settings of an empty installation in the cluster. */
async function emptyCopy(): Promise<Env & { readonly DATABASE_URL: string }> {
  const url = await createCluster(cluster, `copy_${++copies}`);
  return { ...elsewhere(env, url), DATABASE_URL: url };
}

const restore = (copy: Env) => runToEnd("cli/restore", copy, backup);

/** Starts a restore that waits when its tables are made, or for a lock of one of them. @param name of the session that waits */
async function heldRestore(copy: Env, lock = "", name = "") {
  const command = await heldBack(copy, "create schema graphile_worker", "", "cli/restore", backup);
  if (lock === "") return command;
  const goOn = await held(copy.DATABASE_URL!, lock);
  await command.goOn();
  await waits(copy.DATABASE_URL!, "wait_event_type = 'Lock'", name);
  return { ...command, goOn };
}

/** Restores again, and distributes the rows. */
async function expectWhole(copy: Env): Promise<void> {
  expect(await restore(copy)).toMatchObject({ code: 0, stdout: expect.stringContaining("HELD") });
  expect(await contents(copy.DATABASE_URL!)).toEqual(rows);
  const distributed = await runToEnd("cli/distribute", copy);
  expect(distributed.stdout).toMatch(/^Distributed \d\d tables/);
  expect(await contents(copy.DATABASE_URL!)).toEqual(rows);
}

/** Whether a restore has said that everything is loaded. */
async function isFinished(url: string): Promise<boolean> {
  const [hold] = (await rowsAt(url, "select finished_at as at from holds")) as { at: Date | null }[];
  return hold !== undefined && hold.at !== null;
}

/** The output of a command whose connection PostgreSQL has cut off. */
const FAILED = {
  ...{ code: 1, stdout: "" },
  stderr: expect.stringMatching(
    /^Database: .*\n.* try again\.\n(The database contains a part of the rows.* Run the command again: .*\n)?$/,
  ),
};

const MOMENTS: Readonly<Record<string, readonly [lock?: string, name?: string]>> = {
  "when its tables are made": [],
  "when all rows are loaded": ["lock table messages in share update exclusive mode", "parley restore"],
  "before its end": ["lock table holds in share mode", "parley"],
};
const cases = Object.keys(MOMENTS).flatMap((moment) =>
  Object.keys(INTERRUPTIONS).map((killed) => [killed, moment] as const),
);

describe("a restore into a cluster", () => {
  test.each(cases)(
    "is never taken for a whole one if %s is killed %s, and the next one is whole",
    async (killed, moment) => {
      const copy = await emptyCopy();
      const command = await heldRestore(copy, ...MOMENTS[moment]!);
      const result = await INTERRUPTIONS[killed]!(command, cluster);
      if (result.code !== 0) expect(result).toMatchObject(killed === "the command" ? { code: null } : FAILED);
      if (await isFinished(copy.DATABASE_URL)) {
        // Nothing that was left to do needed the worker, or the last statement of the command was already sent.
        expect([0, null]).toContain(result.code);
        expect(await contents(copy.DATABASE_URL)).toEqual(rows);
        expect(await restore(copy)).toMatchObject({ code: 1, stderr: expect.stringContaining("not empty") });
        return;
      }
      for (const program of ["main", "cli/distribute"])
        expect(await runToEnd(program, copy)).toMatchObject({
          code: 1,
          stderr: expect.stringMatching(/restore into this database was interrupted.*npm run restore/),
        });
      await expectWhole(copy);
    },
    TIMEOUT_MS,
  );

  test.each(Object.entries(INTERRUPTIONS))(
    "is whole after one that was clearing its remains when %s was killed",
    async (killed, interrupt) => {
      const copy = await emptyCopy();
      expect(await restore(copy)).toMatchObject({ code: 0 });
      await queryAt(copy.DATABASE_URL, "update holds set finished_at = null");
      const again = await heldBack(
        copy,
        "lock table holds in access share mode",
        "parley",
        "cli/restore",
        backup,
      );
      const result = await interrupt(again, cluster);
      expect(result).toMatchObject(killed === "the command" ? { code: null } : FAILED);
      expect(await rowsAt(copy.DATABASE_URL, "select from holds")).toHaveLength(1);
      await expectWhole(copy);
    },
    TIMEOUT_MS,
  );
});
