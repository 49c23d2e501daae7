import { expect, test } from "@jest/globals";
import pg from "pg";
import { pino } from "pino";
import { newId } from "../../src/platform/database/ids";
import { Calendar } from "../../src/platform/jobs/calendar";
import { useApp } from "../support/app";
import { afterTest } from "../support/server";

const running = useApp({ WORKER: "off" });

const query = <Row>(text: string, values: unknown[] = []) =>
  running.database.query<Row & object>(text, values);

/** Calendars of so many workers, with one task that is due every hour, half an hour away from now. */
async function calendars(count: number) {
  const task = `test.${newId().replaceAll("-", "_")}`;
  const pool = new pg.Pool({ connectionString: running.database.ownerUrl });
  const [row] = await query<{ minute: number }>(
    "select extract(minute from now() - interval '30 minutes')::integer as minute",
  );
  const made = Array.from(
    { length: count },
    () => new Calendar(pool, { [task]: { at: `${row!.minute} * * * *` } }, pino({ level: "silent" })),
  );
  afterTest(async () => {
    await Promise.all(made.map((one) => one.stop()));
    await pool.end();
    await query("select graphile_worker.remove_job($1)", [task]);
  });
  const start = () => Promise.all(made.map((one) => one.start()));
  const noted = (minutes: number) =>
    query(
      `insert into graphile_worker._private_known_crontabs (identifier, known_since, last_execution)
      values ($1, now(), now() + $2 * interval '1 minute')`,
      [task, minutes],
    );
  const jobs = () =>
    query<{ revision: number; due: boolean }>(
      "select revision, run_at <= now() as due from graphile_worker.jobs where key = $1",
      [task],
    );
  const lastMinutes = async () => {
    const [row] = await query<{ minutes: number | null }>(
      `select round(extract(epoch from last_execution - now()) / 60)::integer as minutes
      from graphile_worker._private_known_crontabs where identifier = $1`,
      [task],
    );
    return row?.minutes;
  };
  return { task, start, noted, jobs, lastMinutes };
}

test.each([
  ["an hour ago", -60],
  ["40 minutes ago", -40],
  ["a week ago", -10_080],
  ["in two hours, by a wrong clock", 120],
  ["in a minute, by a wrong clock", 1],
])("a task that ran last %s is enqueued, once by all workers, for now", async (_name, minutes) => {
  const { start, noted, jobs, lastMinutes } = await calendars(5);
  await noted(minutes);
  await start();
  expect(await jobs()).toEqual([{ revision: 0, due: true }]);
  expect([-31, -30, -29]).toContain(await lastMinutes());
  await start();
  expect(await jobs()).toEqual([{ revision: 0, due: true }]);
});

test("a job that a wrong clock put off is enqueued for now", async () => {
  const { task, start, noted, jobs } = await calendars(3);
  await noted(120);
  await query("select graphile_worker.add_job($1, run_at => now() + interval '2 hours', job_key => $1)", [
    task,
  ]);
  await start();
  expect(await jobs()).toEqual([{ revision: 1, due: true }]);
});

test.each([
  ["that is new", undefined],
  ["that ran 20 minutes ago", -20],
])("a task %s waits for its time", async (_name, minutes) => {
  const { start, noted, jobs, lastMinutes } = await calendars(3);
  if (minutes !== undefined) await noted(minutes);
  await start();
  await start();
  expect(await jobs()).toEqual([]);
  expect(await lastMinutes()).toEqual(minutes ?? null);
});
