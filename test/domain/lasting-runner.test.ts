import { expect, test } from "@jest/globals";
import { Logger as JobLogger, type RunnerOptions } from "graphile-worker";
import pino from "pino";
import { DueJobs } from "../../src/platform/jobs/due-jobs";
import { openJobPool } from "../../src/platform/jobs/job-pool/job-pool";
import { LastingRunner } from "../../src/platform/jobs/lasting-runner";
import { useApp } from "../support/app";
import { refuseFailures } from "../support/jobs";
import { afterTest } from "../support/server";
import { until } from "../support/until";

const running = useApp({ WORKER: "off" });
const LOGGER = pino({ level: "silent" });

test("jobs of a runner that broke run again, also when the ends of several could not be recorded", async () => {
  const pool = openJobPool(running.database.ownerUrl, LOGGER);
  const runs: string[] = [];
  const errors: string[] = [];
  const failures = new Map<string, () => void>();
  let finish: () => void = () => undefined;
  const options: RunnerOptions = {
    pgPool: pool,
    noHandleSignals: true,
    concurrency: 3,
    pollInterval: 50,
    logger: new JobLogger(() => (level, message) => void (String(level) === "error" && errors.push(message))),
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    taskList: {
      fail: async (payload) => {
        const { name } = payload as { name: string };
        runs.push(name);
        if (runs.filter((one) => one === name).length > 1) return;
        await new Promise<void>((_resolve, reject) => failures.set(name, () => reject(new Error(name))));
      },
      wait: () => new Promise<void>((resolve) => (finish = resolve)),
    },
  };
  const runner = new LastingRunner(options, pool, LOGGER);
  afterTest(async () => {
    await runner.stop();
    await pool.end();
  });
  const record = await refuseFailures(running.database);
  await running.database.query(
    `select graphile_worker.add_job('wait'), graphile_worker.add_job('fail', '{"name": "one"}'),
       graphile_worker.add_job('fail', '{"name": "another"}')`,
  );
  await runner.start();
  await until(() => failures.size === 2);
  const [broken] = runner.ids;
  const unrecorded = () => errors.filter((message) => message.startsWith("Failed to fail jobs")).length;
  for (const fail of failures.values()) {
    const before = unrecorded();
    fail();
    await until(() => unrecorded() > before); // the first one breaks the runner, which is replaced
  }
  await record();
  finish();
  await until(() => runs.length === 4);
  expect(runs.slice(2).sort()).toEqual(["another", "one"]);
  expect(runner.ids).not.toContain(broken);
});

test("a worker that rarely looks for jobs runs one when its time has come", async () => {
  const pool = openJobPool(running.database.ownerUrl, LOGGER);
  const runs: unknown[] = [];
  const options: RunnerOptions = {
    pgPool: pool,
    noHandleSignals: true,
    pollInterval: 600_000,
    logger: new JobLogger(() => () => undefined),
    taskList: { note: (payload) => void runs.push(payload) },
  };
  const runner = new LastingRunner(options, pool, LOGGER);
  await runner.start();
  const dueJobs = new DueJobs(pool, [runner]);
  afterTest(async () => {
    await dueJobs.stop();
    await runner.stop();
    await pool.end();
  });
  await running.database.query(
    `select graphile_worker.add_job('note', '{"of": "later"}', run_at => now() + interval '1 second')`,
  );
  await until(() => runs.length > 0);
  expect(runs).toEqual([{ of: "later" }]);
});
