import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { workerProblem } from "../../src/platform/database/connections/worker-problem";
import { clusterProblem } from "../../src/platform/database/distributed/refuse-unfit";
import { emptyDatabase, runToEnd, SETTINGS, type Env } from "../support/server";

const distributed = (env: Env) => runToEnd("cli/distribute", { ...SETTINGS, ...env });

describe("`npm run distribute` refuses", () => {
  test("the embedded database", async () => {
    const { code, stderr } = await distributed({});
    expect([code, stderr]).toEqual([1, expect.stringMatching(/embedded.*npm run move/)]);
  });

  test.each(["DATABASE_DIRECT_URL", "DATABASE_REPLICA_URL"])("servers with %s", async (setting) => {
    const url = await emptyDatabase();
    const { code, stderr } = await distributed({ DATABASE_URL: url, [setting]: url });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`Unset ${setting}`)]);
  });

  test("a database without Citus, and leaves it empty", async () => {
    const url = await emptyDatabase();
    const { code, stderr } = await distributed({ DATABASE_URL: url });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/has no Citus.*CREATE EXTENSION citus/)]);
    const again = await distributed({ DATABASE_URL: url });
    expect(again.stderr).toBe(stderr);
  });

  test("an older Citus", () => {
    const cluster = { version: "12.1-1", coordinators: 1, workers: 2, group: 0 };
    expect(clusterProblem(cluster)).toMatch(/Citus 12\.1-1.*13 or later.*ALTER EXTENSION citus UPDATE/);
    expect(clusterProblem({ ...cluster, version: "13.2-1" })).toBeUndefined();
  });
});

describe("an error of Citus", () => {
  const where = "while executing command on 10.0.0.11:5432";
  const ended = { code: "57P01", message: "terminating connection due to unexpected postmaster exit" };

  test("names the worker that cannot do its part, and what to do", () => {
    expect(workerProblem({ ...ended, where })?.message).toMatch(
      /^A worker of the Citus cluster, 10\.0\.0\.11:5432, does not answer: terminating .* exit\. Start it/,
    );
    const message = "insert into t - cannot execute INSERT in a read-only transaction";
    expect(workerProblem({ code: "25006", message, where })?.message).toMatch(
      /10\.0\.0\.11:5432, is read-only: cannot execute INSERT .* transaction\. Lead its address to the primary/,
    );
  });

  test("stays as it is if it is of the coordinator, or not about a worker's state", () => {
    expect(workerProblem(ended)).toBeUndefined();
    expect(workerProblem({ code: "23505", message: "duplicate key", where })).toBeUndefined();
  });
});

test.each([
  ["without CITUS_BIN", undefined, /^CITUS_BIN is not set.*build\.sh/],
  ["with a folder without PostgreSQL", "/nowhere", /^CITUS_BIN \(\/nowhere\) has no initdb.*build\.sh/],
])("the tests on a cluster say what they need %s", async (_, folder, expected) => {
  const { CITUS_BIN: _set, ...env } = process.env;
  const check = promisify(execFile)(process.execPath, [join(__dirname, "../citus/check.mjs")], {
    env: { ...env, ...(folder !== undefined && { CITUS_BIN: folder }) },
  });
  await expect(check).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(expected) as unknown });
});
