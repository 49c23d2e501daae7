import { beforeAll, describe, expect, test } from "@jest/globals";
import { createCluster, databaseAt, queryAt, startCitus, type CitusCluster } from "../support/citus";
import { afterTests, runToEnd, SERVER_TIMEOUT_MS, SETTINGS } from "../support/server";

const distributed = (url: string, program = "cli/distribute") =>
  runToEnd(program, { ...SETTINGS, DATABASE_URL: url });

describe("`npm run distribute`", () => {
  let cluster: CitusCluster;
  let url: string;
  beforeAll(async () => {
    cluster = await startCitus(1);
    afterTests(() => cluster.stop());
    url = await createCluster(cluster, "whole");
  }, 2 * SERVER_TIMEOUT_MS);

  test("refuses a coordinator that the workers do not know, then one without workers", async () => {
    const { url: postgres, port } = cluster.coordinator;
    await queryAt(postgres, "create database part");
    const part = databaseAt(postgres, "part");
    await queryAt(part, "create extension citus");
    const unknown = await distributed(part);
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringMatching(/citus_set_coordinator_host\('HOST', PORT\)/),
    ]);
    await queryAt(part, `select citus_set_coordinator_host('127.0.0.1', ${port})`);
    const alone = await distributed(part);
    expect([alone.code, alone.stderr]).toEqual([
      1,
      expect.stringMatching(/no active worker.*citus_add_node/),
    ]);
  });

  test.each(["cli/distribute", "main"])("refuses a worker (%s)", async (program) => {
    const { code, stderr } = await distributed(databaseAt(cluster.workers[0]!.url, "whole"), program);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/a worker.*the address of the coordinator/)]);
  });

  test("distributes the tables once", async () => {
    const first = await distributed(url);
    expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/^Distributed \d\d tables/)]);
    const again = await distributed(url);
    expect([again.code, again.stdout]).toEqual([0, "All tables are distributed already.\n"]);
  });
});
