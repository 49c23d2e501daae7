import { expect, test } from "@jest/globals";
import pg from "pg";
import { newId } from "../../src/platform/database/ids";
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

/** A job that is being run, of which so many tries are left. */
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

/** Its worker died, and whoever looks after that has noticed. */
const freed = (pool: pg.Pool, id: string) =>
  pool.query("select graphile_worker.force_unlock_workers(array[$1])", [id]);

/** Work that goes on until it is let go. */
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

test("what is asked for while the same is done has it done once more, and whoever asks is not kept", async () => {
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

test("work that fails is done once more where it was asked for meanwhile, and else fails the job and frees the name", async () => {
  const pool = connected();
  const sole = { name: newId(), jobId: await job(pool), attempt: 1 };
  const fails = () => Promise.reject(new Error("It failed."));
  await expect(runAlone(pool, sole, fails)).rejects.toThrow("It failed.");
  const tries = [
    async () => {
      expect(await runAlone(pool, { ...sole, jobId: await job(pool) }, nothing)).toBe("left");
      throw new Error("It failed.");
    },
    nothing,
  ];
  expect(await runAlone(pool, { ...sole, attempt: 2 }, () => tries.shift()!())).toBe("entered");
  expect(tries).toEqual([]);
});

test("a job whose worker died keeps the name until it is begun anew, and nothing is left to one that can't be", async () => {
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

test("a worker that was taken for dead and comes back leaves the name to whoever has it now", async () => {
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
