import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { callOf, NUMBER, place, speaker, statusesOf } from "../support/calls";
import { statement } from "../support/database";
import {
  afterTests,
  type Env,
  freePort,
  PATIENCE,
  preparedDatabase,
  type ServerProcess,
  SETTINGS,
  startServer,
  until,
} from "../support/server";
import { FakeVapi } from "../support/vapi";

let vapi: FakeVapi;
beforeAll(async () => void (vapi = await new FakeVapi().start()));
afterAll(() => vapi.stop());

/** Settings with the fake engine, which calls back where the server listens. */
let env: Env;
/** Who took over in one test is there to be killed in the next. */
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
  "a server that is killed after it accepted a call and before it dialled: the call is dialled once by another",
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
  2 * PATIENCE,
);

test(
  "a server that is killed while the engine dials: another finds the call there, and dials nothing",
  async () => {
    vapi.will({ delay: 20_000, early: true });
    const id = await place(last.api, await speaker(last.api, QUIET), "+14155550132");
    await until(() => vapi.asked(id) === 1);
    await last.end("SIGKILL");
    vapi.will({});
    const second = await startServer(env);
    expect((await callOf(second.api, id)).dialedAt).toBeNull();
    // What a dead worker held is free after a while; here that while is over.
    await statement(env.DATABASE_URL!, "update worker_heartbeats set seen_at = now() - interval '5 minutes'");
    await until(async () => (await callOf(second.api, id)).dialedAt !== null);
    expect(vapi.asked(id)).toBe(1);
  },
  2 * PATIENCE,
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
    expect((await callOf(second.api, id)).status).toBe("in-progress");
    await until(async () => (await callOf(second.api, id)).status === "ended");
    expect((await callOf(second.api, id)).endedReason).toBe("engine-lost-call");
    expect(await statusesOf(second.api, id)).toEqual(["queued", "ringing", "in-progress", "ended"]);
  },
  2 * PATIENCE,
);
