import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { callOf, NUMBER, place, speaker, statusesOf } from "../support/calls";
import { statement } from "../support/database";
import { emptyDatabase, freePort, PATIENCE, SETTINGS, startServer, until } from "../support/server";
import { FakeVapi } from "../support/vapi";

let vapi: FakeVapi;
beforeAll(async () => void (vapi = await new FakeVapi().start()));
afterAll(() => vapi.stop());

/** Settings with the fake engine, which calls back where the server listens. */
async function engine(): Promise<Record<string, string>> {
  const PORT = String(await freePort());
  return {
    ...SETTINGS,
    PORT,
    VAPI_API_KEY: "key",
    VAPI_BASE_URL: vapi.url,
    VAPI_PHONE_NUMBER_ID: "number-1",
    PUBLIC_BASE_URL: `http://127.0.0.1:${PORT}`,
    VOICE_ENGINE_TIMEOUT_SECONDS: "30",
  };
}
const QUIET = { initialMessage: "" };

test(
  "a server that is killed after it accepted a call and before it dialled: the call is dialled once by another",
  async () => {
    const env = { ...(await engine()), DATABASE_URL: await emptyDatabase() };
    const first = await startServer({ ...env, WORKER: "off" });
    const id = await place(first.api, await speaker(first.api, QUIET), "+14155550132");
    await first.end("SIGKILL");
    expect(vapi.asked(id)).toBe(0);
    const second = await startServer(env);
    await until(async () => (await callOf(second.api, id)).dialedAt !== null);
    expect(vapi.asked(id)).toBe(1);
    expect(vapi.problems).toEqual([]);
  },
  2 * PATIENCE,
);

test(
  "a server that is killed while the engine dials: another finds the call there, and dials nothing",
  async () => {
    const env = { ...(await engine()), DATABASE_URL: await emptyDatabase() };
    vapi.will({ delay: 20_000, early: true });
    const first = await startServer(env);
    const id = await place(first.api, await speaker(first.api, QUIET), "+14155550132");
    await until(() => vapi.asked(id) === 1);
    await first.end("SIGKILL");
    vapi.will({});
    const second = await startServer(env);
    expect((await callOf(second.api, id)).dialedAt).toBeNull();
    // What a dead worker held is free after a minute; here that minute is over.
    await statement(env.DATABASE_URL, "update worker_heartbeats set seen_at = now() - interval '5 minutes'");
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
      DATABASE_URL: await emptyDatabase(),
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
