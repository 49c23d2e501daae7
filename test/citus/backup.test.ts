import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { createCluster, databaseAt, queryAt, rowsAt, startCitus, type CitusCluster } from "../support/citus";
import { afterTests, emptyFolder, runToEnd, SERVER_TIMEOUT_MS, SETTINGS } from "../support/server";

/** Runs a command to its end. @returns what it printed */
async function ran(program: string, url: string, ...options: string[]): Promise<string> {
  const env = { ...SETTINGS, DATABASE_URL: url, DATA_DIR: emptyFolder() };
  const { code, stdout, stderr } = await runToEnd(program, env, ...options);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return stdout;
}

const ORGANIZATIONS =
  "select o.id, k.id as key from organizations o join api_keys k on k.organization_id = o.id order by 1, 2";

describe("the rows of a cluster", () => {
  let cluster: CitusCluster;
  let url: string;
  let organizations: unknown[];
  beforeAll(async () => {
    cluster = await startCitus(2);
    afterTests(() => cluster.stop());
    url = await createCluster(cluster, "original");
    await ran("cli/distribute", url);
    for (const name of ["One", "Two", "Three"]) await ran("cli/org-create", url, "--name", name);
    organizations = await rowsAt(url, ORGANIZATIONS);
    expect(organizations).toHaveLength(8);
  }, 4 * SERVER_TIMEOUT_MS);

  test(
    "are backed up, restored into another cluster, and distributed there",
    async () => {
      const folder = join(emptyFolder(), "backup");
      await ran("cli/backup", url, folder);
      const copy = await createCluster(cluster, "restored");
      await ran("cli/restore", copy, folder);
      expect(await ran("cli/distribute", copy)).toMatch(/^Distributed \d\d tables/);
      expect(await rowsAt(copy, ORGANIZATIONS)).toEqual(organizations);
    },
    2 * SERVER_TIMEOUT_MS,
  );

  test(
    "move back to a single PostgreSQL",
    async () => {
      await queryAt(cluster.coordinator.url, "create database single");
      const single = databaseAt(cluster.coordinator.url, "single");
      await ran("cli/move", url, "--to", single);
      expect(await rowsAt(single, ORGANIZATIONS)).toEqual(organizations);
    },
    2 * SERVER_TIMEOUT_MS,
  );
});
