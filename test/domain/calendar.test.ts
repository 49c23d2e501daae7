import { expect, test } from "@jest/globals";
import pg from "pg";
import { pino } from "pino";
import { newId } from "../../src/platform/database/values/ids";
import { Calendar } from "../../src/platform/jobs/calendar/calendar";
import { useApp } from "../support/app";
import { takeJob } from "../support/jobs";
import { afterTest } from "../support/server";

const running = useApp({ WORKER: "off" });

const query = <Row>(text: string, values: unknown[] = []) =>
  running.database.query<Row & object>(text, values);

/** Calendars of five workers with one hourly task, which is next due in half an hour. */
async function calendars() {
  const task = `test.${newId().replaceAll("-", "_")}`;
  const pool = new pg.Pool({ connectionString: running.database.ownerUrl });
  const [row] = await query<{ minute: number }>(
    "select extract(minute from now() + interval '30 minutes')::integer as minute",
  );
  const made = Array.from(
    { length: 5 },
    () => new Calendar(pool, { [task]: { at: `${row!.minute} * * * *` } }, pino({ level: "silent" })),
  );
  afterTest(async () => {
    await Promise.all(made.map((one) => one.stop()));
    await pool.end();
    await query("select graphile_worker.remove_job($1)", [task]);
  });
  /** Lets every worker check at once. */
  const look = () => Promise.all(made.map((one) => one.start()));
  const enqueue = async (minutes: number) => {
    const text = `select id from graphile_worker.add_job($1, run_at => now() + $2 * interval '1 minute', job_key => $1)`;
    return (await query<{ id: string }>(text, [task, minutes]))[0]!.id;
  };
  /** Minutes from now until the jobs of the task are due. */
  const waits = async () => {
    const text = `select round(extract(epoch from run_at - now()) / 60)::integer as minutes
      from graphile_worker.jobs where task_identifier = $1 and locked_at is null order by run_at`;
    return (await query<{ minutes: number }>(text, [task])).map(({ minutes }) => minutes);
  };
  return { look, enqueue, waits };
}

/** One job for the task's next run; a new minute may have started since. */
function expectNext(waits: readonly number[]): void {
  expect(waits).toHaveLength(1);
  expect([29, 30]).toContain(waits[0]);
}

test("a periodic task has one job for its next run, however often all workers check", async () => {
  const { look, waits } = await calendars();
  await look();
  expectNext(await waits());
  await look();
  expectNext(await waits());
});

test.each([
  ["a minute ago", -1],
  ["a week ago", -10_080],
  ["in 20 minutes, after it failed", 20],
])("a run that has been due since %s stays due", async (_name, minutes) => {
  const { look, enqueue, waits } = await calendars();
  await enqueue(minutes);
  await look();
  expect(await waits()).toEqual([minutes]);
});

test("a run postponed by a wrong clock returns to its time", async () => {
  const { look, enqueue, waits } = await calendars();
  await enqueue(120);
  await look();
  expectNext(await waits());
});

test("the next run is enqueued while the last one is still running", async () => {
  const { look, enqueue, waits } = await calendars();
  await takeJob(running.database, await enqueue(-1), "a worker");
  await look();
  expectNext(await waits());
  await look();
  expectNext(await waits());
});
