import { afterEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { startApp, useApp } from "../support/app";
import { newAssistant, newChat, quietAssistant, UNKNOWN_ID } from "../support/factories";
import { Receiver } from "../support/receiver";
import { stubModel, type ModelAsked, type Reply } from "../support/stub-model";
import { talk as talkWith, type Setting } from "../support/talk";
import { until } from "../support/until";

const running = useApp({ WORKER: "on" });
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function talk(replies: Reply[], setting: Setting = {}) {
  const made = await talkWith(running, replies, setting);
  stops.push(made.model.stop);
  return made;
}
async function server(): Promise<Receiver> {
  const receiver = await new Receiver((res) => void res.end('"done"')).start();
  stops.push(() => receiver.stop());
  return receiver;
}

const OK: Reply = { text: ["Fine."] };
const START = `mutation ($input: StartChatInput!) { startChat(input: $input) {
  id greeting draft version { number document } } }`;
const CHAT = `query ($id: ID!) { chat(id: $id) { draft version { number } } }`;
const SAVE = `mutation ($id: ID!, $input: AssistantDraftInput!) { saveAssistantDraft(assistantId: $id, input: $input) { basedOn } }`;
const PUBLISH = `mutation ($id: ID!) { publishAssistantDraft(assistantId: $id) { version { number } } }`;
const DISCARD = `mutation ($id: ID!) { discardAssistantDraft(assistantId: $id) { id } }`;
const RESTORE = `mutation ($id: ID!, $number: Int!) { restoreAssistantVersion(assistantId: $id, number: $number) { version { number } } }`;
const CURRENT = `query ($id: ID!) { assistant(id: $id) { version { number } } }`;

const start = async (input: object) => (await running.api.gql(START, { input })).startChat;
const refusal = (input: object) => running.api.gqlError(START, { input });
const patch = (id: string, part: string, body: object) =>
  running.api.patch(`/rest/v1/assistants/${id}${part}`, body, 200);
const save = (id: string, input: object) => running.api.gql(SAVE, { id, input });
const publish = (id: string) => running.api.gql(PUBLISH, { id });
const restore = (id: string, number: number) => running.api.gql(RESTORE, { id, number });
const currentOf = async (id: string): Promise<number> =>
  (await running.api.gql(CURRENT, { id })).assistant.version.number;
const chatOf = async (id: string) => (await running.api.gql(CHAT, { id })).chat;

/** The parts of a request to the model that come from the assistant. */
const partsOf = ({ model, messages, tools, temperature, max_tokens }: ModelAsked) =>
  JSON.stringify({ model, system: messages[0]!.content, tools, temperature, max_tokens });

/** An assistant whose versions differ in each part of a request. */
const numbered = (number: number) => ({
  prompt: `You are version ${number} of {who}.`,
  resources: `Version ${number} opens at ${number}.`,
  temperature: number / 10,
  maxTokensOutput: 100 + number,
  functions: [
    { name: `find_${number}`, description: `Finds {who}.`, parameters: { type: "object", properties: {} } },
  ],
});

describe("a chat in progress", () => {
  test("asks the model with the version that it began with for 20 turns, while others are published", async () => {
    const { api } = running;
    const made = await talk([OK], { configuration: numbered(1) });
    const id = made.assistantId;
    await patch(id, "", { variables: { who: "the first" } });
    const first = await currentOf(id);
    const chat = await start({ assistantId: id });
    expect(chat.version.number).toBe(first);
    const say = async (chatId: string, content: string) =>
      api.post(
        "/rest/v1/ai-chats/messages?wait=true",
        { aiChatId: chatId, role: "USER", channel: "TEXT", content, metadata: {} },
        201,
      );
    const changes = [
      () => patch(id, "/chat", numbered(2)),
      () => patch(id, "", { name: "Bea", variables: { who: "the second" } }),
      async () => (await save(id, { chat: numbered(3), variables: { who: "the third" } }), publish(id)),
      () => restore(id, 1),
      () => patch(id, "/chat", { ...numbered(4), functions: [] }),
      () => patch(id, "", { variables: null }),
    ];
    for (let turn = 0; turn < 20; turn++) {
      await say(chat.id, `Question ${turn}`);
      if (turn % 3 === 0) await changes[turn / 3]?.();
    }
    expect(await currentOf(id)).toBe(first + changes.length);
    expect(made.model.asked).toHaveLength(20);
    expect(partsOf(made.model.asked[0]!)).toContain("You are version 1 of the first.");
    expect(new Set(made.model.asked.map(partsOf)).size).toBe(1);
    expect((await chatOf(chat.id)).version.number).toBe(first);

    const next = await start({ assistantId: id });
    await say(next.id, "Hello");
    expect(partsOf(made.model.asked[20]!)).toContain("You are version 4 of {who}.");
  });

  test("calls the functions of its version, with the secrets that are stored now", async () => {
    const [first, second] = [await server(), await server()];
    const book = (url: string, secretKey?: string) => ({ name: "book", serverUrl: url, secretKey });
    const call: Reply = { call: "book", arguments: "{}" };
    const { assistantId, say } = await talk([call, OK, call, OK, call, OK], {
      configuration: { functions: [book(first.url, "old")] },
    });
    await say("Book it");
    // The secret is rotated without a new version, then the function moves to another origin.
    await patch(assistantId, "/chat", { functions: [book(first.url, "new")] });
    await patch(assistantId, "/chat", { functions: [book(second.url, "of the second")] });
    await say("Again");
    await patch(assistantId, "/chat", { functions: [book(first.url)] });
    await say("Again");
    expect(first.received.map(({ headers }) => headers["x-ck"])).toEqual(["old", "new", undefined]);
    expect(second.received).toEqual([]);
  });

  test("suggests replies only as its version does", async () => {
    const { assistantId, say } = await talk([{ text: ["Fine."] }, { text: ['["Yes"]'] }], {
      configuration: { quickRepliesEnabled: true },
    });
    await patch(assistantId, "/chat", { quickRepliesEnabled: false });
    expect((await say("Hello")).metadata.quickReplies).toEqual(["Yes"]);
  });

  test("ends at once when its assistant is deleted", async () => {
    const id = await quietAssistant(running.api);
    const chatId = await newChat(running.api, id);
    await patch(id, "/chat", { prompt: "Be brief." });
    await running.api.delete(`/rest/v1/assistants/${id}`, 200);
    const { chat } = await running.api.gql("query ($id: ID!) { chat(id: $id) { status endedReason } }", {
      id: chatId,
    });
    expect(chat).toEqual({ status: "ended", endedReason: "assistant-deleted" });
  });

  test("runs the same version on another server", async () => {
    const { model, assistantId, chatId, say } = await talk([OK], { configuration: { prompt: "First." } });
    await say("Hello");
    await patch(assistantId, "/chat", { prompt: "Second." });
    const other = await startApp(running.database, { WORKER: "on" });
    stops.push(() => other.stop());
    const body = { aiChatId: chatId, role: "USER", channel: "TEXT", content: "And now?", metadata: {} };
    await other.api.post("/rest/v1/ai-chats/messages?wait=true", body, 201);
    expect(new Set(model.asked.map(partsOf)).size).toBe(1);
  });

  test("of an older server follows its assistant", async () => {
    const { model, assistantId, chatId, say, told } = await talk([OK], {
      configuration: { prompt: "First." },
    });
    await running.database.query("update chats set assistant_version = null where id = $1", [chatId]);
    await say("Hello");
    await patch(assistantId, "/chat", { prompt: "Second." });
    await say("Hello");
    expect(model.asked).toHaveLength(2);
    expect([told(1), told(2)]).toEqual(["First.", "Second."]);
    expect((await chatOf(chatId)).version).toBeNull();
  });

  test("does not begin while its channel is switched off, whatever the version says", async () => {
    const id = await quietAssistant(running.api);
    await patch(id, "/chat", { chatMode: false });
    const off = await currentOf(id);
    expect((await refusal({ assistantId: id, assistantVersion: off - 1 })).extensions.code).toBe(
      "CHANNEL_DISABLED",
    );
    await patch(id, "/chat", { chatMode: true });
    expect((await start({ assistantId: id, assistantVersion: off })).version.number).toBe(off);
  });
});

describe("a chat with a number", () => {
  test("greets and answers as that version", async () => {
    const { model, assistantId, say: _say, told } = await talk([OK], { configuration: { prompt: "First." } });
    await patch(assistantId, "/chat", { initialMessage: "I am the first of {city}." });
    const number = await currentOf(assistantId);
    await patch(assistantId, "/chat", { initialMessage: "I am the second.", prompt: "Second." });
    await patch(assistantId, "", { variables: { city: "Bern" } });
    const chat = await start({ assistantId, assistantVersion: number });
    expect(chat).toMatchObject({ greeting: "I am the first of Rome.", draft: false, version: { number } });
    const body = { aiChatId: chat.id, role: "USER", channel: "TEXT", content: "Hi", metadata: {} };
    await running.api.post("/rest/v1/ai-chats/messages?wait=true", body, 201);
    expect(model.asked).toHaveLength(1);
    expect(told(1)).toBe("First.");
  });

  test("that does not exist is refused, and so are impossible combinations", async () => {
    const id = await quietAssistant(running.api);
    const assistantId = id;
    const problems = async (input: object) => {
      const { extensions } = await refusal(input);
      return [extensions.code, extensions.details?.map(({ path }: { path: string }) => path)];
    };
    const at = (...fields: string[]) => ["BAD_USER_INPUT", fields.map((field) => `input.${field}`)];
    expect(await problems({ assistantId, assistantVersion: 99 })).toEqual(at("assistantVersion"));
    expect(await problems({ assistantId, assistantVersion: 0 })).toEqual(at("assistantVersion"));
    expect(await problems({ assistantId, assistantVersion: 1, draft: true })).toEqual(at("draft"));
    expect(await problems({ workflowId: UNKNOWN_ID, assistantVersion: 1 })).toEqual(at("assistantVersion"));
    expect(await problems({ deploymentId: UNKNOWN_ID, draft: true })).toEqual(at("draft"));
    expect((await problems({ assistantId, draft: true }))[0]).toBe("DRAFT_NOT_FOUND");
    expect((await problems({ assistantId: UNKNOWN_ID, assistantVersion: 1 }))[0]).toBe("ASSISTANT_NOT_FOUND");
    const call = { assistantId, phoneNumber: "+12025550100", assistantVersion: 99 };
    for (const path of [
      "/rest/v1/call/phone",
      "/rest/v1/assistants/phone-calls/initiate",
      "/rest/v1/ai-chats",
    ]) {
      const { phoneNumber: _p, ...chat } = call;
      const answer = await running.api.post(path, path.endsWith("ai-chats") ? chat : call, 400);
      expect(answer).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: "assistantVersion" }] });
    }
  });
});

describe("a draft in a chat", () => {
  test("is talked with as it was when the chat began", async () => {
    const { model, assistantId, told } = await talk([OK], { configuration: { prompt: "Live." } });
    await save(assistantId, {
      name: "Draft",
      chat: { prompt: "Draft of {city}.", initialMessage: "Draft!" },
    });
    const number = await currentOf(assistantId);
    const chat = await start({ assistantId, draft: true });
    expect(chat).toMatchObject({ greeting: "Draft!", draft: true, version: { number } });
    const ask = () =>
      running.api.post(
        "/rest/v1/ai-chats/messages?wait=true",
        { aiChatId: chat.id, role: "USER", channel: "TEXT", content: "Hi", metadata: {} },
        201,
      );
    await ask();
    await save(assistantId, { chat: { prompt: "Another draft." } });
    await ask();
    await publish(assistantId);
    await patch(assistantId, "", { variables: { city: "Bern" } });
    await ask();
    expect(model.asked).toHaveLength(3);
    expect([1, 2, 3].map(told)).toEqual(["Draft of Rome.", "Draft of Rome.", "Draft of Rome."]);
    expect(await chatOf(chat.id)).toEqual({ draft: true, version: { number } });
  });

  test("can try a channel that is switched off, or switch it off", async () => {
    const id = await quietAssistant(running.api);
    await patch(id, "/chat", { chatMode: false });
    await save(id, { name: "Draft" });
    expect((await refusal({ assistantId: id, draft: true })).extensions.code).toBe("CHANNEL_DISABLED");
    await save(id, { chat: { chatMode: true } });
    expect((await start({ assistantId: id, draft: true })).draft).toBe(true);
    expect((await refusal({ assistantId: id })).extensions.code).toBe("CHANNEL_DISABLED");
    await patch(id, "/chat", { chatMode: true });
    await save(id, { chat: { chatMode: false } });
    expect((await refusal({ assistantId: id, draft: true })).extensions.code).toBe("CHANNEL_DISABLED");
  });

  test("calls its functions with its own secrets, which stand nowhere in the clear", async () => {
    const receiver = await server();
    const { assistantId } = await talk([{ call: "book", arguments: "{}" }, OK]);
    const functions = [{ name: "book", serverUrl: receiver.url, secretKey: "of-the-draft" }];
    await save(assistantId, { chat: { functions } });
    const { id } = await start({ assistantId, draft: true });
    await running.api.gql(DISCARD, { id: assistantId });
    const body = { aiChatId: id, role: "USER", channel: "TEXT", content: "Hi", metadata: {} };
    await running.api.post("/rest/v1/ai-chats/messages?wait=true", body, 201);
    expect(receiver.received.map(({ headers }) => headers["x-ck"])).toEqual(["of-the-draft"]);
    const copies = () => running.database.query("select * from chat_drafts where chat_id = $1", [id]);
    const [copy] = await copies();
    expect(copy).toBeDefined();
    expect(JSON.stringify(copy)).not.toContain("of-the-draft");
    await running.api.gql("mutation ($id: ID!) { endChat(id: $id) { id } }", { id });
    expect(await copies()).toEqual([]);
    expect(await chatOf(id)).toMatchObject({ draft: true });
  });
});

test("a chat with a draft uses no secret that was replaced after the draft was published", async () => {
  const receiver = await server();
  const call: Reply = { call: "book", arguments: "{}" };
  const { assistantId } = await talk([call, OK, call, OK, call, OK, call, OK]);
  const withSecret = (secretKey?: string) => ({
    functions: [{ name: "book", serverUrl: receiver.url, secretKey }],
  });
  await patch(assistantId, "/chat", withSecret("before"));
  await save(assistantId, { chat: { ...withSecret("drafted"), prompt: "Draft." } });
  const { id } = await start({ assistantId, draft: true });
  const body = { aiChatId: id, role: "USER", channel: "TEXT", content: "Hi", metadata: {} };
  const say = () => running.api.post("/rest/v1/ai-chats/messages?wait=true", body, 201);
  await say();
  await publish(assistantId);
  await say();
  await patch(assistantId, "/chat", withSecret("rotated"));
  await say();
  await patch(assistantId, "/chat", withSecret());
  await say();
  expect(receiver.received.map(({ headers }) => headers["x-ck"])).toEqual([
    ...["drafted", "drafted", "rotated"],
    undefined,
  ]);
});

describe("any conversation", () => {
  test("says the version of its start at every turn, whatever is published meanwhile", async () => {
    const model = await stubModel(OK);
    stops.push(model.stop);
    const provider =
      "mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }";
    await running.api.gql(provider, { input: { provider: "OPENAI", apiKey: "sk-stub", baseUrl: model.url } });
    const step = fc.oneof(
      { arbitrary: fc.record({ publish: fc.constantFrom("patch", "draft", "restore") }), weight: 2 },
      { arbitrary: fc.record({ start: fc.constantFrom("current", "number", "draft") }), weight: 1 },
      { arbitrary: fc.record({ say: fc.nat(20) }), weight: 3 },
    );
    const property = fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 14 }), async (steps) => {
      const assistantId = await quietAssistant(running.api);
      await patch(assistantId, "/chat", { prompt: "Prompt 0" });
      const prompts = new Map<number, string>();
      const note = async () =>
        prompts.set(
          await currentOf(assistantId),
          (await running.api.get(`/rest/v1/assistants/${assistantId}/chat`, 200)).prompt,
        );
      await note();
      const chats: { id: string; prompt: string }[] = [];
      let count = 0;
      for (const one of steps) {
        count++;
        const prompt = `Prompt ${count}`;
        if ("publish" in one) {
          if (one.publish === "patch") await patch(assistantId, "/chat", { prompt });
          else if (one.publish === "draft")
            await save(assistantId, { chat: { prompt } }).then(() => publish(assistantId));
          else await restore(assistantId, Math.max(...prompts.keys()) - 1);
          await note();
        } else if ("start" in one) {
          const numbers = [...prompts.keys()];
          const number = one.start === "number" ? numbers[count % numbers.length]! : Math.max(...numbers);
          if (one.start === "draft") await save(assistantId, { chat: { prompt: `Draft ${count}` } });
          const choice = { current: {}, number: { assistantVersion: number }, draft: { draft: true } };
          const { id } = await start({ assistantId, ...choice[one.start] });
          if (one.start === "draft") await running.api.gql(DISCARD, { id: assistantId });
          chats.push({ id, prompt: one.start === "draft" ? `Draft ${count}` : prompts.get(number)! });
        } else if (chats.length > 0) {
          const { id, prompt: expected } = chats[one.say % chats.length]!;
          const body = { aiChatId: id, role: "USER", channel: "TEXT", content: "Hi", metadata: {} };
          await running.api.post("/rest/v1/ai-chats/messages?wait=true", body, 201);
          expect(model.asked.at(-1)!.messages[0]!.content).toBe(expected);
        }
      }
    });
    await fc.assert(property, { numRuns: 12 });
    expect(model.asked.length).toBeGreaterThan(5);
  });
});

test("a new assistant's first chat runs version 1, and its log and events say so", async () => {
  const id = await newAssistant(running.api);
  const chatId = await newChat(running.api, id);
  await patch(id, "/chat", { prompt: "Be brief." });
  await running.api.gql("mutation ($id: ID!) { endChat(id: $id) { id } }", { id: chatId });
  const document = `query ($assistantId: ID!, $id: ID!) {
    log(assistantId: $assistantId, id: $id) { version { number document } }
    events(filter: { chatId: $id }) { nodes { assistantVersion } } }`;
  const read = () => running.api.gql(document, { assistantId: id, id: chatId });
  await until(async () => (await read()).events.nodes.length > 0);
  const { log, events } = await read();
  expect(log.version.number).toBe(1);
  expect(
    new Set(events.nodes.map(({ assistantVersion }: { assistantVersion: number }) => assistantVersion)),
  ).toEqual(new Set([1]));
});
