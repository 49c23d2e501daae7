import { beforeAll, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { createCluster, databaseAt, queryAt, rowsAt, startCitus, type CitusCluster } from "../support/citus";
import { until } from "../support/until";
import { afterTests, runToEnd, SERVER_TIMEOUT_MS, SETTINGS } from "../support/server";

const distributed = (url: string, program = "cli/distribute") =>
  runToEnd(program, { ...SETTINGS, DATABASE_URL: url });

/** Sessions that wait for a lock. */
const WAITING =
  "select pid from pg_stat_activity where application_name = 'parley distribute' and wait_event_type = 'Lock'";

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

  test.each([
    ["cli/distribute", 1],
    ["main", 78],
  ])("refuses a worker (%s)", async (program, expected) => {
    const { code, stderr } = await distributed(databaseAt(cluster.workers[0]!.url, "whole"), program);
    expect([code, stderr]).toEqual([
      expected,
      expect.stringMatching(/a worker.*the address of the coordinator/),
    ]);
  });

  test("distributes the tables once, and gathers statistics of their shards", async () => {
    const first = await distributed(url);
    expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/^Distributed \d\d tables/)]);
    const rows = await rowsAt(
      url,
      `select distinct result from run_command_on_shards('chats', $$select reltuples from pg_class where oid = '%s'::regclass$$)`,
    );
    expect(rows).toEqual([{ result: "0" }]); // -1 before
    const again = await distributed(url);
    expect([again.code, again.stdout]).toEqual([0, "All tables are distributed already.\n"]);
  });

  test("removes the rows that an interrupted run has left on the coordinator, and gathers statistics of their shards", async () => {
    await queryAt(url, 'create table earlier (organization_id text collate "C" primary key)');
    await queryAt(url, "insert into earlier values ('one')");
    await queryAt(
      url,
      "select create_distributed_table('earlier', 'organization_id', colocate_with => 'chats')",
    );
    expect((await distributed(url)).code).toBe(0);
    expect(await rowsAt(url, "select pg_relation_size('earlier')::integer as bytes")).toEqual([{ bytes: 0 }]);
    expect(await rowsAt(url, "select organization_id from earlier")).toEqual([{ organization_id: "one" }]);
    const rows = await rowsAt(
      url,
      `select sum(result::real)::integer as rows from run_command_on_shards('earlier', $$select reltuples from pg_class where oid = '%s'::regclass$$)`,
    );
    expect(rows).toEqual([{ rows: 1 }]);
  });

  test(
    "lets others work while a transaction has the lock that a table of a later migration needs",
    async () => {
      await queryAt(
        url,
        `create table later (organization_id text collate "C" references organizations, id text,
           primary key (organization_id, id))`,
      );
      const older = new pg.Client({ connectionString: url, application_name: "parley 1" });
      await older.connect();
      await older.query("begin; update organizations set name = name where id = 'none'");
      const run = distributed(url);
      await until(async () => (await rowsAt(url, WAITING)).length > 0);
      await until(async () => {
        await queryAt(url, "select from organizations");
        return (await rowsAt(url, WAITING)).length === 0;
      });
      await older.query("commit");
      await older.end();
      const { code, stdout, stderr } = await run;
      expect([code, stdout]).toEqual([0, "All tables are distributed already.\n"]);
      const placed =
        "select from pg_dist_partition where logicalrelid = 'later'::regclass and partmethod = 'h'";
      expect(await rowsAt(url, placed)).toHaveLength(1);
      expect(stderr).toMatch(
        /tried again: {"migration":"distribution","blocking":\[{"pid":\d+,"application":"parley 1"/,
      );
    },
    SERVER_TIMEOUT_MS,
  );
});
