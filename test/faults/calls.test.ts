import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import pg from "pg";
import { callOf, NUMBER, place, said, speaker, statusesOf } from "../support/calls";
import { createDatabase, someoneWaits, statement } from "../support/database";
import { engineCallOf, streamed } from "../support/engine";
import { proxyTo } from "../support/proxy";
import { reschedule } from "../support/jobs";
import { freePort } from "../support/free-port";
import {
  afterTest,
  afterTests,
  type Env,
  SERVER_TIMEOUT_MS,
  preparedDatabase,
  type ServerProcess,
  SETTINGS,
  startServer,
} from "../support/server";
import { stubModel } from "../support/stub-model";
import { until } from "../support/until";
import { FakeVapi } from "../support/vapi";

let vapi: FakeVapi;
beforeAll(async () => void (vapi = await new FakeVapi().start()));
afterAll(() => vapi.stop());

/** Settings with the fake engine, which calls back at the server's address. */
let env: Env;
/** The server that took over in one test is killed in the next. */
let last: ServerProcess;
beforeAll(async () => {
  const PORT = String(await freePort());
  env = {
    ...SETTINGS,
    DATABASE_URL: await preparedDatabase(afterTests),
    PORT,
    VAPI_API_KEY: "key",
    VAPI_BASE_URL: vapi.url,
    VAPI_PHONE_NUMBER_ID: "number-1",
    PUBLIC_BASE_URL: `http://127.0.0.1:${PORT}`,
    VOICE_ENGINE_TIMEOUT_SECONDS: "30",
    TAKEOVER_SECONDS: "12", // every two seconds it is looked for dead servers
  };
});
const QUIET = { initialMessage: "" };

test(
  "a call accepted by a server that is killed before dialing is dialed once by another",
  async () => {
    const first = await startServer({ ...env, WORKER: "off" });
    const id = await place(first.api, await speaker(first.api, QUIET), "+14155550132");
    await first.end("SIGKILL");
    expect(vapi.asked(id)).toBe(0);
    last = await startServer(env, afterTests);
    await until(async () => (await callOf(last.api, id)).dialedAt !== null);
    expect(vapi.asked(id)).toBe(1);
    expect(vapi.problems).toEqual([]);
  },
  2 * SERVER_TIMEOUT_MS,
);

test(
  "a call whose server is killed during dialing is found at the engine and not dialed again",
  async () => {
    vapi.will({ delay: 20_000, early: true });
    const id = await place(last.api, await speaker(last.api, QUIET), "+14155550132");
    await until(() => vapi.asked(id) === 1);
    expect((await callOf(last.api, id)).dialedAt).toBeNull();
    await last.end("SIGKILL");
    vapi.will({});
    const second = await startServer(env);
    // The jobs of a dead worker are free after a timeout, which is over here.
    await statement(env.DATABASE_URL!, "update worker_heartbeats set seen_at = now() - interval '5 minutes'");
    await until(async () => (await callOf(second.api, id)).dialedAt !== null);
    expect(vapi.asked(id)).toBe(1);
  },
  2 * SERVER_TIMEOUT_MS,
);

test(
  "a server that stalls between storing the attempt and calling the engine does not dial if another server has",
  async () => {
    const database = await createDatabase();
    afterTest(database.drop);
    const quick = {
      ...env,
      DATABASE_URL: database.ownerUrl,
      PORT: "0",
      VOICE_ENGINE_TIMEOUT_SECONDS: "1",
      TAKEOVER_SECONDS: "2",
    };
    const front = await startServer({ ...quick, PORT: env.PORT!, WORKER: "off" });
    const id = await place(front.api, await speaker(front.api, QUIET), "+14155550132");
    await reschedule(database, "1 hour");
    const stalled = await startServer(quick); // before the table is locked, because its start reads policies on Citus
    const owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    afterTest(() => owner.end());
    // Before dialing, the job reads the assistant's configuration.
    await owner.query("begin");
    await owner.query("lock table voice_configurations in access exclusive mode");
    await reschedule(database, "0");
    const stored = "select from calls where chat_id = $1 and dial_attempts = 1";
    await until(async () => (await database.query(stored, [id])).length === 1);
    await until(() => someoneWaits(database, "%voice_configurations%"));
    process.kill(stalled.pid, "SIGSTOP");
    await owner.query("commit");
    await startServer(quick);
    await until(async () => (await callOf(front.api, id)).dialedAt !== null);
    expect(vapi.asked(id)).toBe(1);
    process.kill(stalled.pid, "SIGCONT");
    // The process ends only after its current work has ended.
    expect((await stalled.end("SIGTERM")).code).toBe(0);
    expect(vapi.asked(id)).toBe(1);
    expect(vapi.problems).toEqual([]);
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "a simulated call whose server is killed is ended by another, with a reason",
  async () => {
    const env = {
      ...SETTINGS,
      DATABASE_URL: await preparedDatabase(),
      SIMULATOR_SPEED: "100",
      CALL_SILENCE_SECONDS: "6",
    };
    const first = await startServer(env);
    const id = await place(first.api, await speaker(first.api), NUMBER.endless);
    await until(async () => (await callOf(first.api, id)).status === "in-progress");
    await first.end("SIGKILL");
    const second = await startServer(env);
    await until(async () => (await callOf(second.api, id)).status === "ended");
    expect((await callOf(second.api, id)).endedReason).toBe("engine-lost-call");
    expect(await statusesOf(second.api, id)).toEqual(["queued", "ringing", "in-progress", "ended"]);
  },
  2 * SERVER_TIMEOUT_MS,
);

test(
  "reports of the engine while the database is unavailable are not lost",
  async () => {
    const DATABASE_URL = await preparedDatabase();
    const proxy = await proxyTo(DATABASE_URL);
    afterTest(proxy.stop);
    const { api, url } = await startServer({ ...env, DATABASE_URL: proxy.url });
    const id = await place(api, await speaker(api, QUIET), "+14155550132");
    await until(async () => (await callOf(api, id)).dialedAt !== null);
    const { id: engineCallId, assistant } = vapi.calls.find(({ name }) => name === id)!;
    const report = async (type: string, more: object): Promise<number> => {
      const message = { type, call: { id: engineCallId, name: id }, ...more };
      const { status } = await fetch(`${url}/rest/v1/webhooks/vapi/server-messages`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...assistant.server.headers },
        body: JSON.stringify({ message }),
      });
      return status;
    };
    expect(await report("status-update", { status: "in-progress" })).toBe(201);
    const heard = { role: "user", transcriptType: "final", transcript: "When do you open?" };
    const messages = [
      { role: "user", message: "When do you open?" },
      { role: "bot", message: "At nine." },
    ];
    for (const [type, more] of [
      ["transcript", heard],
      ["end-of-call-report", { endedReason: "customer-ended-call", artifact: { messages } }],
    ] as const) {
      proxy.leave();
      const reported = report(type, more);
      await until(async () => (await api.request("GET", "/health/ready")).status === 503);
      proxy.comeBack();
      expect(await reported).toBe(201);
    }
    expect(said(await callOf(api, id))).toEqual(["USER: When do you open?", "ASSISTANT: At nine."]);
    expect(await callOf(api, id)).toMatchObject({ status: "ended", endedReason: "customer-ended-call" });
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "a server that stops waits for the answer that a caller is hearing",
  async () => {
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    const model = await stubModel({ text: ["We open ", "at nine."], held });
    afterTest(model.stop);
    const stopping = await startServer({
      ...env,
      DATABASE_URL: await preparedDatabase(),
      SHUTDOWN_GRACE_SECONDS: "60",
      MODEL_NAME: "stub",
      MODEL_BASE_URL: model.url,
      OUTBOUND_ALLOW: "127.0.0.0/8",
    });
    const id = await place(stopping.api, await speaker(stopping.api, QUIET), "+14155550132");
    await until(async () => (await callOf(stopping.api, id)).dialedAt !== null);
    const call = engineCallOf(stopping.api, vapi, id);
    await call.tell("status-update", { status: "in-progress" });
    const answer = call.ask([{ role: "user", content: "When do you open?" }], { stream: true });
    await until(() => model.asked.length === 1);
    const end = stopping.end("SIGTERM");
    await sleep(11_000); // longer than requests get by default
    release();
    expect(streamed((await answer).text)).toMatchObject({ content: "We open at nine.", done: true });
    expect((await end).code).toBe(0);
  },
  2 * SERVER_TIMEOUT_MS,
);
