import { afterEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { forget } from "../support/erasures";
import { Receiver } from "../support/receiver";
import { until } from "../support/until";
import { stubModel, type Reply } from "../support/stub-model";
import { talk as talkWith, type Setting } from "../support/talk";

const running = useApp({ WORKER: "on", MODEL_TIMEOUT_SECONDS: "2" });
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const SET = `mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider keyHint baseUrl } }`;
const POST = `mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { role content metadata sequence } }`;

async function talk(replies: Reply[], configuration: object = {}, start: Setting["start"] = {}) {
  const made = await talkWith(running, replies, { configuration, start });
  stops.push(made.answered, made.model.stop);
  return made;
}

describe("a turn with a model", () => {
  test("sends prompt, variables, history and settings, and stores the answer", async () => {
    const { model, say } = await talk(
      [{ text: ["The sun ", "shines."] }, { text: ["Still."] }],
      { prompt: "You know the weather of {city} and {country}.", temperature: 0.3, maxTokensOutput: 77 },
      { variables: { country: "{city}" } },
    );
    expect(await say("How is the weather?")).toMatchObject({ role: "ASSISTANT", content: "The sun shines." });
    expect((await say("And now?")).content).toBe("Still.");
    const [first, second] = model.asked;
    expect(first).toMatchObject({ model: "gpt-4o-mini", temperature: 0.3, max_tokens: 77 });
    // A value is inserted once: placeholders inside it stay.
    expect(first!.messages[0]).toMatchObject({
      role: "system",
      content: expect.stringContaining("of Rome and {city}."),
    });
    expect(second!.messages.slice(1)).toMatchObject([
      { role: "user", content: "How is the weather?" },
      { role: "assistant", content: "The sun shines." },
      { role: "user", content: "And now?" },
    ]);
  });

  test("answers messages that arrive during an answer after it, in chat and request", async () => {
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const { model, say, log } = await talk([{ text: ["At ", "nine."], held }, { text: ["At six."] }]);
    const first = say("When do you open?");
    await until(() => model.asked.length > 0);
    const second = say("And when do you close?");
    await until(async () => (await log()).messages.items.length >= 2);
    letGo();
    expect((await first).content).toBe("At nine.");
    await second;
    await until(() => model.asked.length >= 2);
    expect(model.asked[1]!.messages.slice(1)).toMatchObject([
      { role: "user", content: "When do you open?" },
      { role: "assistant", content: "At nine." },
      { role: "user", content: "And when do you close?" },
    ]);
  });

  test("calls a function at its server with x-ck, and sends the reply to the model", async () => {
    const receiver = await new Receiver((res) => void res.end('{"free":["10:00"]}')).start();
    stops.push(() => receiver.stop());
    const parameters = { type: "object", properties: { day: { type: "string" } }, required: ["day"] };
    const functions = [
      {
        name: "free_slots",
        description: "Slots in {city}",
        parameters,
        serverUrl: receiver.url,
        secretKey: "ck",
      },
    ];
    const { model, say, log } = await talk(
      [{ call: "free_slots", arguments: '{"day":"Monday"}' }, { text: ["At ten."] }],
      { functions },
    );
    expect((await say("When can I come?")).content).toBe("At ten.");
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]).toMatchObject({
      headers: { "x-ck": "ck" },
      body: { function: { name: "free_slots", arguments: { day: "Monday" } } },
    });
    expect(typeof receiver.received[0]!.body.id).toBe("string");
    expect(model.asked[0]!.tools![0]!.function).toMatchObject({
      name: "free_slots",
      description: "Slots in Rome",
    });
    expect(model.asked[1]!.messages.at(-1)).toMatchObject({ role: "tool", content: '{"free":["10:00"]}' });
    const roles = (await log()).messages.items.map(({ role }: { role: string }) => role);
    expect(roles).toEqual(["USER", "ASSISTANT", "TOOL", "ASSISTANT"]);
  });

  test("includes messages that arrive during a function call, and later shows calls next to their results", async () => {
    let answer = () => undefined as void;
    const receiver = await new Receiver((res) => void (answer = () => void res.end('"done"'))).start();
    stops.push(() => receiver.stop());
    const functions = [{ name: "book", serverUrl: receiver.url }];
    const { model, say, log } = await talk(
      [{ call: "book", arguments: "{}" }, { text: ["Booked."] }, { text: ["Yes."] }],
      { functions },
    );
    const first = say("Book it.");
    await receiver.until(1);
    const second = say("Are you there?");
    await until(async () => JSON.stringify((await log()).messages).includes("Are you there?"));
    answer();
    await Promise.all([first, second]);
    expect(await say("Fine.")).toMatchObject({ content: "Yes." });
    const [, ...told] = model.asked.at(-1)!.messages;
    expect(told.slice(0, 3)).toMatchObject([
      { role: "user", content: "Book it." },
      { role: "assistant", tool_calls: [{ id: expect.any(String) }] },
      { role: "tool", content: "done" },
    ]);
    expect(told.slice(3)).toContainEqual({ role: "user", content: "Are you there?" });
  });

  test("tells the model about invalid arguments instead of sending them", async () => {
    const receiver = await new Receiver().start();
    stops.push(() => receiver.stop());
    const parameters = { type: "object", properties: { day: { type: "string" } }, required: ["day"] };
    const functions = [{ name: "free_slots", parameters, serverUrl: receiver.url }];
    const { model, say } = await talk(
      [{ call: "free_slots", arguments: '{"day":5}' }, { text: ["Sorry."] }],
      { functions },
    );
    expect((await say("When?")).content).toBe("Sorry.");
    expect(receiver.received).toHaveLength(0);
    expect(String(model.asked[1]!.messages.at(-1)!.content)).toContain("arguments are wrong");
  });

  test.each<[string, Reply]>([
    ["a busy one", { status: 429 }],
    ["a busy one with a Retry-After of an hour", { status: 429, headers: { "retry-after": "3600" } }],
    ["one that fails", { status: 500 }],
    ["a broken stream", { half: "The answer" }],
    ["garbage", { garbage: "data: {nonsense\n\n" }],
    ["a page instead of a stream", { garbage: "<!doctype html><title>502</title>" }],
    ["nothing", { text: [] }],
    ["a hang", { text: ["The answer ", "never comes."], held: new Promise(() => undefined) }],
  ])("a model that recovers is retried: %s", async (_, broken) => {
    const { model, say } = await talk([broken, { text: ["Here I am."] }]);
    expect((await say("Hello?")).content).toBe("Here I am.");
    expect(model.asked).toHaveLength(2);
  });

  test("if a model fails three times the chat gets an apology and the log the error", async () => {
    const { model, say, log } = await talk([{ status: 500 }]);
    expect(await say("Hello?")).toMatchObject({ role: "ASSISTANT", metadata: { error: true } });
    expect(model.asked).toHaveLength(3);
    expect((await log()).metadata.errors).toHaveLength(1);
  });

  test.each([
    ["Guten Tag, wann haben Sie morgen geöffnet?", /^Entschuldigung/],
    ["こんにちは。明日は何時に開きますか？", /^申し訳ありません/],
    ["When do you open tomorrow?", /^I'm sorry/],
  ])("the apology is in the language of the person: %s", async (said, apology) => {
    const { say } = await talk([{ status: 400 }]);
    expect((await say(said)).content).toMatch(apology);
    expect((await say("ok")).content).toMatch(apology);
  });

  test("if a key cannot be decrypted the chat gets an apology and the log the error, and no model is called", async () => {
    const { model, say, log } = await talk([{ text: ["Here I am."] }]);
    await running.database.query("update model_credentials set sealed_key = 'of another server'");
    expect(await say("Hello?")).toMatchObject({ role: "ASSISTANT", metadata: { error: true } });
    expect(model.asked).toHaveLength(0);
    expect((await log()).metadata.errors).toHaveLength(1);
  });

  test.each<[string, Reply, RegExp]>([
    ["hangs in the stream", { text: ["Let me ", "think."], held: new Promise(() => undefined) }, /in time/],
    ["breaks off every time", { half: "The answer" }, /\S/],
    ["sends invalid data", { garbage: "data: {nonsense\n\n" }, /\S/],
    ["says nothing", { text: [] }, /answer was empty/],
  ])(
    "a model that %s is given up after three attempts: partial answers are not stored, and the chat continues",
    async (_, broken, told) => {
      const { model, say, log } = await talk([broken, broken, broken, { text: ["Here I am."] }]);
      const answer = await say("Hello?");
      expect(answer).toMatchObject({ role: "ASSISTANT", metadata: { error: true } });
      expect(answer.content).toContain("I can't answer right now");
      expect((await say("Still there?")).content).toBe("Here I am.");
      expect(model.asked).toHaveLength(4);
      const { messages, metadata } = await log();
      expect(messages.items.map(({ content }: { content: string }) => content)).toEqual([
        "Hello?",
        answer.content,
        "Still there?",
        "Here I am.",
      ]);
      expect(metadata.errors).toHaveLength(1);
      expect(metadata.errors[0].message).toMatch(told);
    },
  );

  test("a person is remembered: the next chat knows facts and the end of the last one, until they are erased", async () => {
    const { api } = running;
    const model = await stubModel(
      { call: "remember_fact", arguments: '{"fact":"Is called Zoe."}' },
      { text: ["Hello Zoe."] },
      { text: ["Welcome back."] },
      { text: ["Who are you?"] },
    );
    stops.push(model.stop);
    await api.gql(SET, { input: { provider: "OPENAI", apiKey: "sk-test-1234", baseUrl: model.url } });
    const { id: assistantId } = await api.post("/rest/v1/assistants", { name: "Ada" }, 200);
    const meet = async (content: string) => {
      const start = `mutation ($input: StartChatInput!) { startChat(input: $input) { id } }`;
      const { startChat } = await api.gql(start, { input: { assistantId, uniqueId: "zoe" } });
      await api.gql(POST, {
        input: { aiChatId: startChat.id, role: "USER", channel: "TEXT", content, metadata: {} },
      });
      await api.gql(`mutation ($id: ID!) { endChat(id: $id) { id } }`, { id: startChat.id });
      return String(model.asked.at(-1)!.messages[0]!.content);
    };
    await meet("I am Zoe");
    expect(await meet("It is me again")).toContain("- Is called Zoe.");
    expect(String(model.asked.at(-1)!.messages[0]!.content)).toContain("Person: I am Zoe");
    const known = await api.gql(`{ endUser(uniqueId: "zoe") { facts { text } chats { nodes { id } } } }`);
    expect(known.endUser).toMatchObject({ facts: [{ text: "Is called Zoe." }], chats: { nodes: [{}, {}] } });
    expect(await forget(running, { uniqueId: "zoe" })).toMatchObject({ facts: 1, contexts: 1, chats: 2 });
    expect(await meet("Hello")).not.toContain("Zoe");
  });

  test("limits the number of function calls", async () => {
    const { model, say } = await talk([{ call: "nothing", arguments: "{}" }]);
    expect(await say("Hello?")).toMatchObject({ metadata: { error: true } });
    expect(model.asked).toHaveLength(10);
  });
});
