import { expect, test } from "@jest/globals";
import pg from "pg";
import pino from "pino";
import { newId } from "../../src/platform/database/values/ids";
import { ImmediateJobs } from "../../src/platform/jobs/immediate/immediate-jobs";
import { runAlone, soleName } from "../../src/platform/jobs/sole";
import type { JobSlot } from "../../src/platform/ports/ports";
import { startApp, useApp, type RunningApp } from "../support/app";
import { createDatabase } from "../support/database";
import { removeJobs, waitingJobs } from "../support/jobs";
import { afterTest } from "../support/server";
import { until } from "../support/until";
import { talk } from "../support/talk";

const running = useApp({ WORKER: "on" });
const ORGANIZATION = "an organization";

/** Jobs that workers can find. */
const waiting = async (task: string, { database }: Pick<RunningApp, "database"> = running) =>
  (await waitingJobs(database, task)).map(({ payload }) => ({ payload }));
const begun = (task: string) =>
  running.database.query<{ worker: string; payload: object }>("select * from begun_jobs where task = $1", [
    task,
  ]);
const names = () => running.database.query<{ name: string }>("select name from sole_jobs");

test("a turn starts in the server that receives the message, and its job ends with the answer", async () => {
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const { model, say } = await talk(running, [{ text: ["Come ", "in."], held }]);
  afterTest(model.stop);
  const answer = say("May I?");
  await until(() => model.asked.length === 1);
  expect(await begun("chat.turn")).toHaveLength(1);
  expect(await waiting("chat.turn")).toEqual([]);
  letGo();
  expect((await answer).content).toBe("Come in.");
  await until(async () => (await begun("chat.turn")).length === 0);
  expect(await names()).toEqual([]);
});

test("a server that runs no jobs leaves the turn to one that does", async () => {
  const other = await startApp(running.database, { WORKER: "off" });
  afterTest(other.stop);
  const { model, say } = await talk(other, [{ text: ["Hello."] }]);
  afterTest(model.stop);
  expect((await say("Hello?")).content).toBe("Hello.");
});

/** Runs jobs like a server of this test's own. */
function atOnce(perform: () => Promise<void>) {
  const pool = new pg.Pool({ connectionString: running.database.ownerUrl, max: 4 });
  const here = new ImmediateJobs(pool, perform, pino({ level: "silent" }));
  afterTest(async () => {
    await here.stop();
    await removeJobs(running.database);
    await pool.end();
  });
  return here;
}

/** Enqueues a job as a message does. @returns whether it was started */
async function ask(place: JobSlot, task: string, payload: { id: string }): Promise<boolean> {
  const text = "select parley_begin($1, $2, null, 6, $3)::text as id";
  const [row] = await running.database.query<{ id: string | null }>(text, [task, payload, place.worker]);
  if (row!.id === null) place.release();
  else place.take({ id: row!.id, task, payload });
  return row!.id !== null;
}

test("a request during a run is left for workers, and run once more by the current worker", async () => {
  let letGo = (): void => undefined;
  let times = 0;
  const here = atOnce(async () => {
    if (++times === 1) await new Promise<void>((resolve) => (letGo = resolve));
  });
  const payload = { id: newId() };
  expect(await ask(here.slot(ORGANIZATION)!, "test.twice", payload)).toBe(true);
  await until(() => times === 1);
  expect(await ask(here.slot(ORGANIZATION)!, "test.twice", payload)).toBe(false);
  expect(await begun("test.twice")).toHaveLength(1);
  expect(await waiting("test.twice")).toEqual([{ payload }]);
  const pool = new pg.Pool({ connectionString: running.database.ownerUrl });
  afterTest(() => pool.end());
  const found = { name: soleName("test.twice", payload), jobId: "1", attempt: 1 };
  expect(await runAlone(pool, found, () => Promise.reject(new Error("It is being done.")))).toBe("left");
  letGo();
  await until(async () => (await begun("test.twice")).length === 0);
  expect(times).toBe(2);
  expect(await runAlone(pool, found, () => Promise.resolve())).toBe("entered");
});

test("a failed job is left for workers", async () => {
  const here = atOnce(() => Promise.reject(new Error("No luck.")));
  const payload = { id: newId() };
  expect(await ask(here.slot(ORGANIZATION)!, "test.fails", payload)).toBe(true);
  await until(async () => (await waiting("test.fails")).length === 1);
  expect(await waiting("test.fails")).toEqual([{ payload }]);
  expect(await begun("test.fails")).toEqual([]);
});

test("a job whose end cannot be recorded stays with its server until it can", async () => {
  const rename = (from: string, to: string) => running.database.query(`alter table ${from} rename to ${to}`);
  let done = (): void => undefined;
  const here = atOnce(() => new Promise<void>((resolve) => (done = resolve)));
  expect(await ask(here.slot(ORGANIZATION)!, "test.away", { id: newId() })).toBe(true);
  await until(async () => (await names()).length === 1);
  await rename("begun_jobs", "begun_jobs_away");
  done();
  await until(async () => (await names()).length === 0);
  const left = "select from begun_jobs_away where task = 'test.away'";
  expect(await running.database.query(left)).toHaveLength(1);
  await rename("begun_jobs_away", "begun_jobs");
  await until(async () => (await begun("test.away")).length === 0);
  expect(await waiting("test.away")).toEqual([]);
});

test("a started job whose server lost its connection before the confirmation is left for workers", async () => {
  const database = await createDatabase();
  afterTest(database.drop);
  const { stop } = await startApp(database, { WORKER: "on", TAKEOVER_SECONDS: "2" });
  afterTest(stop);
  const [mine] = await database.query<{ id: string }>(
    "select worker_id as id from worker_heartbeats where worker_id like 'at-once-%'",
  );
  const payload = { id: newId() };
  await database.query("select parley_begin('test.lost', $1, null, 6, $2)", [payload, mine!.id]);
  await database.query("update begun_jobs set begun_at = now() - interval '1 minute'");
  await until(async () => (await database.query("select from begun_jobs")).length === 0);
  expect(await waiting("test.lost", { database })).toEqual([{ payload }]);
});

test("an organization gets 24 slots next to others, further jobs are left for workers; a stopping server takes no job and leaves its own to others", async () => {
  const here = atOnce(() => new Promise(() => undefined));
  for (let count = 0; count < 24; count++)
    expect(await ask(here.slot(ORGANIZATION)!, "test.many", { id: newId() })).toBe(true);
  expect(here.slot(ORGANIZATION)).toBeUndefined();
  expect(await ask(here.slot("another organization")!, "test.many", { id: newId() })).toBe(true);
  await here.stop();
  expect(here.slot("a third one")).toBeUndefined();
  expect(await begun("test.many")).toEqual([]);
  expect(await waiting("test.many")).toHaveLength(25);
});
