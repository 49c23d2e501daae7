import { expect, test } from "@jest/globals";
import pg from "pg";
import pino from "pino";
import { newId } from "../../src/database/ids";
import { AtOnce } from "../../src/jobs/at-once";
import type { JobPlace } from "../../src/ports/ports";
import { startApp, useApp } from "../support/app";
import { afterTest, until } from "../support/server";
import { talk } from "../support/talk";

const running = useApp({ WORKER: "on" });

interface JobRow {
  readonly id: string;
  readonly attempts: number;
  readonly locked_by: string | null;
  readonly last_error: string | null;
}
const jobs = (name: string) =>
  running.database.query<JobRow>(
    `select job.* from graphile_worker._private_jobs job join graphile_worker._private_tasks task
     on task.id = job.task_id where task.identifier = $1 order by job.id`,
    [name],
  );
const names = () => running.database.query<{ name: string }>("select name from sole_jobs");

test("the turn begins in the server that takes the message, and its job is over with the answer", async () => {
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const { model, say } = await talk(running, [{ text: ["Come ", "in."], held }]);
  afterTest(model.stop);
  const answer = say("May I?");
  await until(() => model.asked.length === 1);
  expect(await jobs("chat.turn")).toMatchObject([
    { attempts: 1, locked_by: expect.stringMatching(/^at-once-/) },
  ]);
  letGo();
  expect((await answer).content).toBe("Come in.");
  await until(async () => (await jobs("chat.turn")).length === 0);
  expect(await names()).toEqual([]);
});

test("a server that runs no jobs leaves the turn to one that does", async () => {
  const other = await startApp(running.database, { WORKER: "off" });
  afterTest(other.stop);
  const { model, say } = await talk(other, [{ text: ["Hello."] }]);
  afterTest(model.stop);
  expect((await say("Hello?")).content).toBe("Hello.");
});

/** Runs jobs as a server does that was started for this test. */
function atOnce(perform: () => Promise<void>) {
  const pool = new pg.Pool({ connectionString: running.database.ownerUrl, max: 4 });
  const here = new AtOnce(pool, perform, pino({ level: "silent" }));
  afterTest(async () => {
    await here.stop();
    await running.database.query("delete from graphile_worker._private_jobs");
    await pool.end();
  });
  return here;
}

/** Asks for a job as a message does. @returns whether it was begun */
async function ask(place: JobPlace, task: string, payload: { id: string }): Promise<boolean> {
  const text = "select parley_begin($1, $2, null, 6, $3)::text as id";
  const [row] = await running.database.query<{ id: string | null }>(text, [task, payload, place.worker]);
  if (row!.id === null) place.leave();
  else place.take({ id: row!.id, task, payload });
  return row!.id !== null;
}

test("what is asked for while the same goes on is left to be found, and done once more by whoever is at it", async () => {
  let letGo = (): void => undefined;
  let times = 0;
  const here = atOnce(async () => {
    if (++times === 1) await new Promise<void>((resolve) => (letGo = resolve));
  });
  const payload = { id: newId() };
  expect(await ask(here.place()!, "test.twice", payload)).toBe(true);
  await until(() => times === 1);
  expect(await ask(here.place()!, "test.twice", payload)).toBe(false);
  expect(await jobs("test.twice")).toMatchObject([{ attempts: 1 }, { attempts: 0, locked_by: null }]);
  expect(here.ids).toHaveLength(1);
  await running.database.query("update sole_jobs set again = true"); // as whoever finds the second does
  letGo();
  await until(() => here.ids.length === 0);
  expect(times).toBe(2);
});

test("a job that fails is one to be found, with what went wrong", async () => {
  const here = atOnce(() => Promise.reject(new Error("No luck.")));
  expect(await ask(here.place()!, "test.fails", { id: newId() })).toBe(true);
  await until(() => here.ids.length === 0);
  expect(await jobs("test.fails")).toMatchObject([
    { attempts: 1, locked_by: null, last_error: "Error: No luck." },
  ]);
});

test("a job whose end can't be noted is held until it can", async () => {
  const rename = (from: string, to: string) => running.database.query(`alter table ${from} rename to ${to}`);
  let done = (): void => undefined;
  const away = new Promise<void>((resolve) => (done = resolve));
  const held = atOnce(() => away);
  expect(await ask(held.place()!, "test.away", { id: newId() })).toBe(true);
  await rename("sole_jobs", "sole_jobs_away");
  await rename("graphile_worker._private_jobs", "_private_jobs_away");
  done();
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(held.ids).toHaveLength(1);
  await rename("graphile_worker._private_jobs_away", "_private_jobs");
  await rename("sole_jobs_away", "sole_jobs");
  await until(() => held.ids.length === 0);
  expect(await jobs("test.away")).toMatchObject([{ attempts: 1, locked_by: null }]);
});

test("twenty have room, the next is one to be found; a server that stops takes none and frees what it has", async () => {
  const here = atOnce(() => new Promise(() => undefined));
  for (let count = 0; count < 20; count++)
    expect(await ask(here.place()!, "test.many", { id: newId() })).toBe(true);
  expect(here.place()).toBeUndefined();
  await here.stop();
  expect(here.place()).toBeUndefined();
  expect(new Set((await jobs("test.many")).map((job) => job.locked_by))).toEqual(new Set([null]));
});
