import { expect, test } from "@jest/globals";
import pg from "pg";
import { newId } from "../../src/platform/database/values/ids";
import { runAlone } from "../../src/platform/jobs/sole";
import { useApp } from "../support/app";
import { takeJob } from "../support/jobs";
import { afterTest } from "../support/server";

const running = useApp({ WORKER: "off" });

const connected = () => {
  const pool = new pg.Pool({ connectionString: running.database.ownerUrl, max: 4 });
  afterTest(() => pool.end());
  return pool;
};

/** A running job with this many attempts left. */
async function job(pool: pg.Pool, triesLeft = 5) {
  const text = `select id from graphile_worker.add_job('test.sole', max_attempts => $1)`;
  const { rows } = await pool.query<{ id: string }>(text, [triesLeft + 1]);
  const { id } = rows[0]!;
  await takeJob(running.database, id, id);
  afterTest(async () => {
    await freed(pool, id);
    await pool.query("select graphile_worker.complete_jobs(array[$1::bigint])", [id]);
  });
  return id;
}

/** Pretends that the job's worker crashed and that this was detected. */
const freed = (pool: pg.Pool, id: string) =>
  pool.query("select graphile_worker.force_unlock_workers(array[$1])", [id]);

/** Work that runs until it is released. */
function held() {
  let letGo = (): void => undefined;
  let begun = (): void => undefined;
  const going = new Promise<void>((resolve) => (begun = resolve));
  let times = 0;
  const work = async () => {
    if (++times > 1) return;
    begun();
    await new Promise<void>((resolve) => (letGo = resolve));
  };
  return { work, going, letGo: () => letGo(), times: () => times };
}

const nothing = (): Promise<void> => Promise.resolve();

test("a request during a run causes one more run, and the caller does not wait", async () => {
  const pool = connected();
  const name = newId();
  const first = held();
  const done = runAlone(pool, { name, jobId: await job(pool), attempt: 1 }, first.work);
  await first.going;
  for (const jobId of [await job(pool), await job(pool)])
    expect(await runAlone(pool, { name, jobId, attempt: 1 }, nothing)).toBe("left");
  first.letGo();
  expect(await done).toBe("entered");
  expect(first.times()).toBe(2);
  expect(await runAlone(pool, { name, jobId: await job(pool), attempt: 1 }, nothing)).toBe("entered");
});

test("failed work runs once more if it was requested meanwhile; otherwise its job fails and the name is free", async () => {
  const pool = connected();
  const sole = { name: newId(), jobId: await job(pool), attempt: 1 };
  const fails = () => Promise.reject(new Error("It failed."));
  await expect(runAlone(pool, sole, fails)).rejects.toThrow("It failed.");
  const attempts = [
    async () => {
      expect(await runAlone(pool, { ...sole, jobId: await job(pool) }, nothing)).toBe("left");
      throw new Error("It failed.");
    },
    nothing,
  ];
  expect(await runAlone(pool, { ...sole, attempt: 2 }, () => attempts.shift()!())).toBe("entered");
  expect(attempts).toEqual([]);
});

test("a job of a crashed worker keeps its name until it is retried; without attempts left it has none", async () => {
  const pool = connected();
  const name = newId();
  const [dead, last, other] = [await job(pool), await job(pool, 0), await job(pool)];
  const goes = async (jobId: string) => {
    const { work, going } = held();
    void runAlone(pool, { name, jobId, attempt: 1 }, work);
    await going;
  };
  const asks = () => runAlone(pool, { name, jobId: other, attempt: 1 }, nothing);
  await goes(dead);
  expect(await asks()).toBe("left");
  await freed(pool, dead);
  expect(await asks()).toBe("left");
  const anew = held();
  const again = runAlone(pool, { name, jobId: dead, attempt: 2 }, anew.work);
  await anew.going;
  anew.letGo();
  expect(await again).toBe("entered");

  await goes(last);
  expect(await asks()).toBe("later");
  await freed(pool, last);
  expect(await asks()).toBe("entered");
});

test("a worker that was presumed dead and returns leaves the name to its new owner", async () => {
  const pool = connected();
  const sole = { name: newId(), jobId: await job(pool), attempt: 1 };
  const [paused, anew] = [held(), held()];
  const back = runAlone(pool, sole, paused.work);
  await paused.going;
  const second = runAlone(pool, { ...sole, attempt: 2 }, anew.work);
  await anew.going;
  paused.letGo();
  expect(await back).toBe("entered");
  expect(await runAlone(pool, { ...sole, jobId: await job(pool) }, nothing)).toBe("left");
  anew.letGo();
  await second;
  expect([paused.times(), anew.times()]).toEqual([1, 2]);
});
