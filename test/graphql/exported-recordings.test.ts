import { beforeAll, expect, test } from "@jest/globals";
import { ended, speaker } from "../support/calls";
import { useEngine } from "../support/engine";
import { archiveOf, exportPerson, rowsIn } from "../support/exports";
import { Receiver } from "../support/receiver";
import { afterTest } from "../support/server";

const running = useEngine({ OUTBOUND_ALLOW: "127.0.0.1" });
let assistantId: string;
beforeAll(async () => {
  assistantId = await speaker(running.api, { initialMessage: "" });
});

/** Stores an ended call of a person, with a recording at an address. */
async function recorded(userId: string, recordingUrl: string): Promise<string> {
  const engine = await running.call(assistantId, { userId });
  await engine.tell("status-update", { status: "in-progress" });
  const artifact = { recordingUrl, messages: [] };
  await engine.tell("end-of-call-report", { endedReason: "customer-ended-call", artifact });
  await ended(running.api, engine.id);
  return engine.id;
}

type Reply = ConstructorParameters<typeof Receiver>[0];
async function storeOf(reply: Reply): Promise<Receiver> {
  const store = await new Receiver(reply).start();
  afterTest(() => store.stop());
  return store;
}

test("a recording is downloaded into the archive, named after its call", async () => {
  const store = await storeOf((res) => void res.setHeader("Content-Type", "audio/wav").end("RIFF sound"));
  const named = await recorded("heard", `${store.url}one.mp3`);
  const unnamed = await recorded("heard", `${store.url}two`);
  const state = await exportPerson(running, { userId: "heard" });
  expect(state).toMatchObject({ status: "DONE", chats: 2, recordings: 2, absent: 0 });
  const files = await archiveOf(running, state.id);
  expect(files[`recordings/${named}.mp3`]).toBe("RIFF sound");
  expect(files[`recordings/${unnamed}.wav`]).toBe("RIFF sound");
  expect(rowsIn(files["recordings.ndjson"])).toEqual([
    { chatId: named, url: `${store.url}one.mp3`, path: `recordings/${named}.mp3` },
    { chatId: unnamed, url: `${store.url}two`, path: `recordings/${unnamed}.wav` },
  ]);
});

const failures: [string, Reply, RegExp][] = [
  ["returns 404", (res) => void res.writeHead(404).end(), /status 404/],
  ["redirects", (res) => void res.writeHead(302, { Location: "http://10.0.0.1/" }).end(), /redirects/],
  ["hangs up", (res) => void res.destroy(), /./],
  [
    "breaks off",
    (res) => {
      res.writeHead(200, { "Content-Length": "1000" }).write("RIFF");
      setImmediate(() => res.destroy());
    },
    /interrupted/,
  ],
];
test.each(failures)(
  "the archive contains the URL of a recording whose store %s, and the reason",
  async (what, reply, why) => {
    const store = await storeOf(reply);
    const chatId = await recorded(what, `${store.url}lost.wav`);
    const state = await exportPerson(running, { userId: what });
    expect(state).toMatchObject({ status: "DONE", chats: 1, recordings: 0, absent: 1 });
    const files = await archiveOf(running, state.id);
    expect(rowsIn(files["recordings.ndjson"])).toMatchObject([
      { chatId, url: `${store.url}lost.wav`, problem: expect.stringMatching(why) },
    ]);
    expect(rowsIn(files["chats.ndjson"])).toHaveLength(1);
  },
);

test("a recording at an internal address is not downloaded", async () => {
  await recorded("inside", "http://10.1.2.3/secret.wav");
  const state = await exportPerson(running, { userId: "inside" });
  expect(state).toMatchObject({ status: "DONE", absent: 1 });
  const [row] = rowsIn((await archiveOf(running, state.id))["recordings.ndjson"]);
  expect(row).toMatchObject({ problem: "The address is private and not in OUTBOUND_ALLOW." });
});
