import { describe, expect, test } from "@jest/globals";
import pg from "pg";
import { Api } from "../support/api";
import { startApp } from "../support/app";
import { callOf, ended, place, speaker, statusesOf } from "../support/calls";
import { useEngine } from "../support/engine";
import { afterTest } from "../support/server";
import { until } from "../support/until";

const running = useEngine({ CALL_SILENCE_SECONDS: "1", CALL_MAX_SECONDS: "3600" });
const QUIET = { initialMessage: "" };

/** A line dials one call per second; these calls do not wait for one another. */
const freeLine = () => running.database.query("update calls set line = null");

async function order(): Promise<string> {
  await freeLine();
  return place(running.api, await speaker(running.api, QUIET), "+14155550132");
}
/** The call is not dialed again: no job for it is left. */
const settled = (id: string) =>
  until(async () => {
    const key = `call.start:${id}`;
    const jobs = "select from graphile_worker.jobs where key = $1";
    return (await running.database.query(jobs, [key])).length === 0;
  });
/** Time when the job that dials a call runs next, in ms. */
async function nextLook(id: string): Promise<number> {
  const jobs = "select run_at from graphile_worker.jobs where key = $1";
  const [job] = await running.database.query<{ run_at: Date }>(jobs, [`call.start:${id}`]);
  return job!.run_at.getTime();
}

describe("a call is dialed once", () => {
  test("when the engine answers after the timeout", async () => {
    const { api, vapi } = running;
    vapi.will({ delay: 1_500 }, {});
    const id = await order();
    await until(async () => (await callOf(api, id)).dialedAt !== null);
    await settled(id);
    expect(vapi.asked(id)).toBe(1);
    expect((await callOf(api, id)).status).toBe("queued");
  });

  test("when the engine made the call and its answer was lost", async () => {
    const { api, vapi } = running;
    vapi.will({ status: 502, made: true }, {});
    const id = await order();
    await until(async () => (await callOf(api, id)).dialedAt !== null);
    await settled(id);
    expect(vapi.asked(id)).toBe(1);
  });

  test("and again when the engine certainly made none", async () => {
    const { api, vapi } = running;
    vapi.will({ status: 503 }, {});
    const id = await order();
    await until(async () => (await callOf(api, id)).dialedAt !== null);
    expect(vapi.asked(id)).toBe(2);
    expect(vapi.calls.filter(({ name }) => name === id)).toHaveLength(1);
  });

  test("when its server was too slow to call the engine in time", async () => {
    const { api, vapi, database } = running;
    const owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    const assistantId = await speaker(api, QUIET);
    const ahead = await order();
    await until(async () => (await callOf(api, ahead)).dialedAt !== null);
    const later = "update calls set dialing_since = now() + interval '3 seconds' where chat_id = $1";
    await database.query(later, [ahead]);
    const id = await place(api, assistantId, "+14155550132"); // waits for the call ahead
    // The dialing server reads the assistant's configuration after it has stored its intent.
    await owner.query("begin");
    await owner.query("lock table voice_configurations in access exclusive mode");
    const late =
      "select from calls where chat_id = $1 and asked_at < clock_timestamp() - interval '2 seconds'";
    await until(async () => (await owner.query(late, [id])).rowCount === 1);
    await owner.query("commit");
    await owner.end();
    await until(async () => (await callOf(api, id)).dialedAt !== null);
    await settled(id);
    expect(vapi.asked(id)).toBe(1);
  });

  test("and at most three times; then it ends, and the log has the reason", async () => {
    const { api, vapi } = running;
    vapi.will({ status: 503 });
    const id = await order();
    expect(await ended(api, id)).toMatchObject({ endedReason: "engine-unreachable" });
    expect(vapi.asked(id)).toBe(3);
    vapi.will({});
    const [{ errors }] = (await running.database.query("select errors from chats where id = $1", [id])) as [
      { errors: { message: string }[] },
    ];
    expect(errors.map(({ message }) => message)).toEqual([1, 2, 3].map(() => expect.stringContaining("503")));
  });

  test("and not again when the engine refuses it", async () => {
    const { api, vapi } = running;
    vapi.will({ status: 400 }, {});
    const id = await order();
    expect(await ended(api, id)).toMatchObject({ endedReason: "call-start-failed" });
    await settled(id);
    expect(vapi.asked(id)).toBe(1);
  });

  test("but not at all when it was canceled before", async () => {
    const { api, vapi, database } = running;
    await database.query("update calls set line = 'server'");
    const assistantId = await speaker(api, QUIET);
    // The line is busy: the second one waits.
    const [, waiting] = [
      await place(api, assistantId, "+14155550132"),
      await place(api, assistantId, "+14155550132"),
    ];
    await api.gql("mutation ($id: ID!) { cancelCall(id: $id) { id } }", { id: waiting });
    await settled(waiting);
    expect(vapi.asked(waiting)).toBe(0);
    expect(await statusesOf(api, waiting)).toEqual(["queued", "ended"]);
  });
});

describe("a call that the engine has", () => {
  test("is hung up there when it is canceled here, even while it is being placed", async () => {
    const { api, vapi } = running;
    vapi.will({ delay: 700 }, {});
    const id = await order();
    await until(() => vapi.created.some(({ body }) => body.name === id));
    await api.gql("mutation ($id: ID!) { cancelCall(id: $id) { id } }", { id });
    await until(() => vapi.calls.some(({ name, status }) => name === id && status === "ended"));
    expect(vapi.controlled.map(({ body }) => body)).toContainEqual({ type: "end-call" });
    expect(await callOf(api, id)).toMatchObject({ status: "ended", endedReason: "cancelled" });
  });

  test("ends if the engine, polled after a silence, says so", async () => {
    const { api, vapi } = running;
    const { engineCallId, id } = await (await freeLine(), running.call(await speaker(api, QUIET)));
    vapi.end(engineCallId, "customer-did-not-answer");
    expect(await ended(api, id)).toMatchObject({ endedReason: "customer-did-not-answer" });
  });

  test("continues if the engine says so, and ends if the engine does not know it", async () => {
    const { api, vapi } = running;
    const { engineCallId, id } = await (await freeLine(), running.call(await speaker(api, QUIET)));
    vapi.calls.find((call) => call.id === engineCallId)!.status = "in-progress";
    await until(async () => (await callOf(api, id)).status === "in-progress");
    vapi.calls.splice(
      vapi.calls.findIndex((call) => call.id === engineCallId),
      1,
    );
    expect(await ended(api, id)).toMatchObject({ endedReason: "engine-lost-call" });
  });
});

test("a line dials one call per second in order of placement, and ten at a time, whichever server dials", async () => {
  const { vapi } = running;
  const engine = { VAPI_API_KEY: "key", VAPI_PHONE_NUMBER_ID: "number-1", VAPI_BASE_URL: vapi.url };
  const settings = { WORKER: "on", PUBLIC_BASE_URL: "https://parley.example", ...engine };
  const other = await startApp(running.database, settings);
  afterTest(other.stop);
  const { api: theirs } = await running.otherOrganization();
  const servers = [theirs, new Api(other.url, theirs.headers)];
  const assistantId = await speaker(theirs, QUIET);
  const ids: string[] = [];
  for (let count = 0; count < 12; count++)
    ids.push(await place(servers[count % 2]!, assistantId, "+14155550132"));
  await until(() => ids.slice(0, 10).every((id) => vapi.asked(id) === 1));
  const next = await nextLook(ids[10]!);
  await until(async () => (await nextLook(ids[10]!)) > next); // it was looked at again, with ten at once
  expect(ids.map((id) => vapi.asked(id))).toEqual([...Array<number>(10).fill(1), 0, 0]);
  const at = vapi.created.filter(({ body }) => ids.includes(body.name));
  expect(at.map(({ body }) => body.name)).toEqual(ids.slice(0, 10));
  const noted = await running.database.query<{ dialing_since: Date }>(
    "select dialing_since from calls where chat_id = any($1) and dialing_since is not null order by dialing_since",
    [ids],
  );
  const times = noted.map(({ dialing_since }) => dialing_since.getTime());
  expect(times).toHaveLength(10);
  for (const [index, time] of times.entries())
    if (index > 0) expect(time - times[index - 1]!).toBeGreaterThanOrEqual(1_000);
  await theirs.gql("mutation ($id: ID!) { cancelCall(id: $id) { id } }", { id: ids[0] });
  await until(() => vapi.asked(ids[10]!) === 1);
  expect(vapi.asked(ids[11]!)).toBe(0);
  expect(vapi.problems).toEqual([]);
});
