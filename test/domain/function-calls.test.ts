import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { Receiver } from "../support/receiver";
import type { Reply } from "../support/stub-model";
import { talk as talkWith, type Setting } from "../support/talk";

const running = useApp({ WORKER: "on" });
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function server(reply?: (res: ServerResponse) => void): Promise<Receiver> {
  const receiver = await new Receiver(reply && ((res) => reply(res))).start();
  stops.push(() => receiver.stop());
  return receiver;
}

async function talk(replies: Reply[], setting: Setting) {
  const made = await talkWith(running, replies, setting);
  stops.push(made.model.stop);
  return made;
}

const DAY = { type: "object", properties: { day: { type: "string" } }, required: ["day"] };
const OK: Reply = { text: ["Fine."] };
const called = (name: string, args: object = {}): Reply => ({ call: name, arguments: JSON.stringify(args) });

describe("a test of a function", () => {
  const TRY = `mutation ($assistantId: ID!, $arguments: JSONObject!) {
    testFunction(assistantId: $assistantId, channel: TEXT, name: "free_slots", arguments: $arguments) {
      request status response failed durationMs } }`;
  const tryOut = async (declared: object, args: object = { day: "Monday" }) => {
    const assistantId = await newAssistant(running.api);
    await running.api.patch(`/rest/v1/assistants/${assistantId}/chat`, { functions: [declared] }, 200);
    return (await running.api.gql(TRY, { assistantId, arguments: args })).testFunction;
  };

  test.each(["flat", "nested"])("shows the request, with x-ck, and the response: %s", async (shape) => {
    const receiver = await server((res) => res.end('{"free": ["10:00"]}'));
    const [name, parameters, url] = ["free_slots", DAY, receiver.url];
    const tried = await tryOut(
      shape === "flat"
        ? { name, parameters, serverUrl: url, secretKey: "ck" }
        : { type: "function", function: { name, parameters }, server: { url, secret: "ck" } },
    );
    expect(receiver.received).toMatchObject([
      { headers: { "x-ck": "ck", "content-type": "application/json" } },
    ]);
    const { body } = receiver.received[0]!;
    expect(body).toEqual({
      id: expect.any(String),
      function: { name: "free_slots", arguments: { day: "Monday" } },
    });
    expect(tried).toEqual({
      request: { url, body },
      status: 200,
      response: '{"free":["10:00"]}',
      failed: false,
      durationMs: expect.any(Number),
    });
  });

  test.each([
    ['"ten o\'clock"', "ten o'clock"],
    ["10.5", "10.5"],
    ["true", "true"],
    ["null", "null"],
    ["[1, {}]", "[1,{}]"],
    ["{}", "{}"],
  ])("accepts any JSON as answer: %s", async (reply, response) => {
    const { url } = await server((res) => res.writeHead(201, { "content-type": "text/plain" }).end(reply));
    const tried = await tryOut({ name: "free_slots", serverUrl: url });
    expect(tried).toMatchObject({ response, failed: false, status: 201 });
  });

  test.each<[string, (res: ServerResponse) => void, RegExp]>([
    ["answers with something else", (res) => res.end("<html>"), /not JSON/],
    ["answers with nothing", (res) => res.writeHead(204).end(), /not JSON/],
    ["fails", (res) => res.writeHead(500).end("{}"), /status 500/],
    ["redirects", (res) => res.writeHead(302, { location: "/other" }).end(), /status 302/],
    ["sends too much", (res) => res.end(JSON.stringify("x".repeat(70_000))), /too long/],
    ["breaks off", (res) => void res.socket!.resetAndDestroy(), /could not be called/],
  ])("says why it failed if its server %s", async (_what, reply, why) => {
    const receiver = await server(reply);
    const tried = await tryOut({ name: "free_slots", serverUrl: receiver.url });
    expect(tried).toMatchObject({ failed: true, response: expect.stringMatching(why) });
    expect(receiver.received).toHaveLength(1);
  });

  test("does not call it with arguments that violate its schema", async () => {
    const receiver = await server();
    const declared = { name: "free_slots", parameters: DAY, serverUrl: receiver.url };
    for (const args of [{}, { day: 5 }, { day: null }])
      expect(await tryOut(declared, args)).toMatchObject({
        request: null,
        failed: true,
        response: expect.stringContaining("day"),
      });
    expect(receiver.received).toEqual([]);
  });
});

describe("a model gets as tools", () => {
  test("the valid functions, each name once, with variables filled in, and no others", async () => {
    const receiver = await server((res) => res.end('"booked"'));
    const city = { type: "string", description: "Always {city}", enum: ["{city}"] };
    const good = {
      name: "book",
      description: "Books in {city} and {nowhere}",
      parameters: { type: "object", properties: { city }, required: ["city"] },
      serverUrl: receiver.url,
    };
    const functions = [
      { label: "no name" },
      { name: "two words" },
      { name: "odd", parameters: { type: "array" } },
      { name: "wrong", parameters: { type: "object", properties: { a: { type: "string", pattern: "(" } } } },
      good,
      { ...good, description: "A twin" },
    ];
    const replies = [called("book", { city: "Paris" }), called("book", { city: "Rome" }), OK];
    const { model, say } = await talk(replies, { configuration: { functions } });
    await say("Book!");
    const offered = model.asked[0]!.tools!.map((tool) => tool.function);
    expect(offered).toMatchObject([
      {
        name: "book",
        description: "Books in Rome and {nowhere}",
        parameters: { properties: { city: { description: "Always Rome", enum: ["Rome"] } } },
      },
    ]);
    // Arguments are checked against the offered schema.
    expect(model.asked[1]!.messages.at(-1)!.content).toContain("arguments are wrong");
    expect(model.asked[2]!.messages.at(-1)!.content).toBe("booked");
    expect(receiver.received).toHaveLength(1);
  });

  test("the functions that end a call and press keys, if the voice configuration enables them", async () => {
    const names = async (configuration: object) => {
      const { model, say } = await talk([OK], { configuration, start: { channel: "VOICE" } });
      await say("Hello");
      return (model.asked[0]!.tools ?? []).map((tool) => tool.function.name);
    };
    expect(await names({ endCallFunction: false, dialKeypadFunction: false })).toEqual([]);
    expect(await names({ endCallFunction: true, dialKeypadFunction: false })).toEqual(["end_call"]);
    expect(await names({ endCallFunction: true, dialKeypadFunction: true })).toEqual([
      "end_call",
      "dial_keypad",
    ]);
  });
});

describe("a call of a model", () => {
  test("is an event, even if it ends the conversation", async () => {
    const configuration = { endCallFunction: true };
    const { say, chatId } = await talk([called("end_call")], { configuration, start: { channel: "VOICE" } });
    await say("Bye");
    const events = `query ($chatId: ID!) { events(filter: { chatId: $chatId, name: "function-call" }) { nodes { payload } } }`;
    expect((await running.api.gql(events, { chatId })).events.nodes).toMatchObject([
      { payload: { data: { name: "end_call" } } },
    ]);
  });

  test.each(["end_call", "dial_keypad"])(
    "has no effect if the function was not offered: %s",
    async (name) => {
      const { model, say, log } = await talk([called(name), OK], {});
      expect((await say("Bye")).content).toBe("Fine.");
      expect(model.asked[1]!.messages.at(-1)!.content).toBe(`There is no function ${name}.`);
      expect((await log()).metadata.status).toBe("in-progress");
    },
  );

  test("reaches the destinations as an event, for declared and built-in functions", async () => {
    const receiver = await server((res) => res.end('"booked"'));
    const { id } = await running.api.post("/rest/v1/settings", { url: receiver.url, secret: "s" }, 201);
    const functions = [{ name: "book", parameters: DAY, serverUrl: (await server()).url }];
    const search = called("search_knowledge", { query: "parking" });
    const { say, assistantId } = await talk([called("book", { day: "Monday" }), search, OK], {
      configuration: { functions },
      rag: {},
    });
    await say("Book!");
    const isCall = ({ body }: { body: Record<string, unknown> }) => body.event === "function-call";
    const sent = await receiver.until(2, isCall);
    expect(sent.map(({ body }) => body)).toEqual(
      [
        { name: "book", parameters: { day: "Monday" } },
        { name: "search_knowledge", parameters: { query: "parking" } },
      ].map((data) => ({ event: "function-call", type: "TEXT", companionId: assistantId, data })),
    );
    await running.api.delete(`/rest/v1/settings/${id}`, 200);
  });

  test.each([
    ["TEXT", undefined, '{"free":true}'],
    ["SMS", undefined, '{"free":true}'],
    ["VOICE", undefined, "The function was called."],
    ["VOICE", {}, '{"free":true}'],
  ])("is answered according to the channel: %s with RAG %j", async (channel, rag, told) => {
    const { url } = await server((res) => res.end('{"free":true}'));
    const setting = { configuration: { functions: [{ name: "look", serverUrl: url }] }, start: { channel } };
    const { model, say } = await talk([called("look"), OK], { ...setting, ...(rag && { rag }) });
    await say("Look!");
    expect(model.asked[1]!.messages.at(-1)).toMatchObject({ role: "tool", content: told });
  });
});

describe("a voice chat ends", () => {
  const MESSAGE = "Goodbye.";
  const voice = (more: object) => ({
    configuration: { endCallMessage: MESSAGE, ...more },
    start: { channel: "VOICE" },
  });
  const end = async ({ log }: { log: () => Promise<Log> }) => {
    const { metadata, messages } = await log();
    return [metadata.status, metadata.endedReason, ...messages.items.map(({ content }) => content)];
  };
  interface Log {
    metadata: { status: string; endedReason?: string };
    messages: { items: { content: string }[] };
  }

  test("when its assistant says one of endCallPhrases, ignoring case, with endCallMessage", async () => {
    const chat = await talk(
      [{ text: ["It was nice."] }, { text: ["Have a NICE ", "day, Zoe!"] }],
      voice({ endCallPhrases: "goodbye,\nhave a nice day" }),
    );
    await chat.say("Thanks");
    expect((await end(chat))[0]).toBe("in-progress");
    await chat.say("Bye");
    expect((await end(chat)).slice(0, 2)).toEqual(["ended", "assistant-ended"]);
    expect((await end(chat)).slice(-2)).toEqual(["Have a NICE day, Zoe!", MESSAGE]);
  });

  test("when its model calls end_call, with endCallMessage", async () => {
    const chat = await talk([called("end_call")], voice({ endCallFunction: true }));
    await chat.say("Bye");
    expect((await end(chat)).slice(0, 2)).toEqual(["ended", "assistant-ended"]);
    expect((await end(chat)).at(-1)).toBe(MESSAGE);
  });
});
