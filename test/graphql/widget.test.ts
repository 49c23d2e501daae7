import { afterEach, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant, quietAssistant, UNKNOWN_ID } from "../support/factories";
import { buildFlow } from "../support/flows";
import { stubModel } from "../support/stub-model";
import { sessionRefused, startSession, VisitorClient, type WidgetEvent } from "../support/visitor";

const running = useApp({ WORKER: "on" });
const open: VisitorClient[] = [];
afterEach(async () => {
  for (const visitor of open.splice(0)) await visitor.close();
});

async function visitorOf(input: object): Promise<VisitorClient> {
  const visitor = await VisitorClient.of(running.url, running.publicKey, input);
  open.push(visitor);
  return visitor;
}
const answered = (events: readonly WidgetEvent[]) =>
  events.some(({ message }) => message?.role === "ASSISTANT");

/** Sends a message and waits for the answer. @returns all events of the chat */
async function ask(visitor: VisitorClient, chatId: string, text: string) {
  let watching: () => void;
  const watched = new Promise<void>((resolve) => (watching = resolve));
  const events = visitor.events(chatId, "0", (seen) => {
    watching(); // transient events, such as tokens, reach only open subscriptions
    const said = seen.findIndex(({ message }) => message?.content === text);
    return said >= 0 && answered(seen.slice(said));
  });
  await watched;
  await visitor.post(chatId, text);
  return events;
}

const setTheme = (assistantId: string, input: object) =>
  running.api.patch(`/rest/v1/assistants/${assistantId}/theme`, input, 200);
const setMode = (assistantId: string, mode: string) =>
  running.api.gql(
    "mutation ($id: ID!, $mode: ThemeMode) { updateThemeConfiguration(assistantId: $id, input: { mode: $mode }) { mode } }",
    { id: assistantId, mode },
  );
const deploymentOf = async (input: object): Promise<string> => {
  const document = "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }";
  return (await running.api.gql(document, { input })).createDeployment.id as string;
};
const widgetOf = async (input: object) => (await startSession(running.url, running.publicKey, input)).widget;
const page = () => running.api.as({ "X-API-Key": running.publicKey });
const refused = async (visitor: VisitorClient, document: string, variables: object = {}) =>
  (await visitor.api.gqlError(document, { ...variables })).extensions.code as string;
const START = "mutation ($input: WidgetChatInput!) { startWidgetChat(input: $input) { id } }";
const POST = "mutation ($input: WidgetMessageInput!) { postWidgetMessage(input: $input) { id } }";

describe("a visitor of a web page", () => {
  test("talks to the assistant and sees the answer as it is written", async () => {
    const assistantId = await newAssistant(running.api);
    const visitor = await visitorOf({ assistantId });
    const chat = await visitor.start();
    expect(chat).toMatchObject({ channel: "TEXT", status: "in-progress", label: "", endedReason: null });
    expect(chat.messages).toMatchObject([
      { role: "ASSISTANT", content: "Hello! How can I help you today?", failed: false },
    ]);
    const events = await ask(visitor, chat.id, "Are you open?");
    expect(new Set(events.map(({ name }) => name))).toEqual(
      new Set(["message", "status", "activity", "token"]),
    );
    const activities = events.flatMap(({ activity }) => activity ?? []);
    expect(activities.slice(0, 2)).toEqual(["thinking", "speaking"]);
    const { messages } = await visitor.chat(chat.id);
    expect(messages.map(({ role }) => role)).toEqual(["ASSISTANT", "USER", "ASSISTANT"]);
    expect(events.flatMap(({ message }) => message ?? [])).toEqual(messages);
    expect((await visitor.chat(chat.id, messages[1]!.id)).messages).toEqual(messages.slice(2));
    expect(await visitor.end(chat.id)).toMatchObject({ status: "ended", endedReason: "ended-by-visitor" });
    expect(await visitor.chats()).toMatchObject([{ id: chat.id, label: "Are you open?", status: "ended" }]);
    expect((await visitor.events(chat.id, "0")).at(-1)).toMatchObject({ name: "status", status: "ended" });
  });

  test("talks with the browser's speech functions, with the voice configuration", async () => {
    const assistantId = await newAssistant(running.api);
    await running.api.patch(
      `/rest/v1/assistants/${assistantId}/voice`,
      { initialMessage: "You speak with {company}." },
      200,
    );
    const visitor = await visitorOf({ assistantId });
    const chat = await visitor.start({ channel: "VOICE", variables: { company: "Example" } });
    expect(chat).toMatchObject({ channel: "VOICE", status: "in-progress" });
    expect(chat.messages.map(({ content }) => content)).toEqual(["You speak with Example."]);
    await ask(visitor, chat.id, "Are you open?");
    const { call } = await running.api.gql("query ($id: ID!) { call(id: $id) { kind status } }", {
      id: chat.id,
    });
    expect(call.kind).toBe("WEB");
  });

  test("sees the messages and nothing else of the chat", async () => {
    const visitor = await visitorOf({ assistantId: await quietAssistant(running.api) });
    const chat = await visitor.start({ metadata: { order: 7 } });
    const add = (role: string, content: string | null, metadata: object = {}) =>
      running.api.post(
        "/rest/v1/ai-chats/messages",
        { aiChatId: chat.id, role, channel: "TEXT", content, metadata },
        201,
      );
    await add("SYSTEM", "a note");
    await add("TOOL", "what a function told");
    await add("ASSISTANT", null);
    await add("ASSISTANT", "Yes?", { quickReplies: ["Yes", 7, "No"], model: "GPT_4_O" });
    await add("ASSISTANT", "We open at nine.", { local: true });
    await add("ASSISTANT", "Sorry.", { error: true });
    const { messages } = await visitor.chat(chat.id);
    expect(messages).toEqual([
      expect.objectContaining({ content: "Yes?", quickReplies: ["Yes", "No"], failed: false, local: false }),
      expect.objectContaining({ content: "We open at nine.", failed: false, local: true }),
      expect.objectContaining({ content: "Sorry.", quickReplies: [], failed: true, local: false }),
    ]);
    const events = await visitor.events(chat.id, "0", (seen) => seen.at(-1)?.message?.failed === true);
    expect(events.flatMap(({ message }) => message?.content ?? [])).toEqual([
      "Yes?",
      "We open at nine.",
      "Sorry.",
    ]);
  });

  test("sends a message again after the network dropped, and it is stored once", async () => {
    const visitor = await visitorOf({ assistantId: await quietAssistant(running.api) });
    const chat = await visitor.start();
    const twice = await Promise.all([1, 2, 3].map(() => visitor.post(chat.id, "Are you open?", "m-1")));
    twice.push(await visitor.post(chat.id, "Are you open?", "m-1"));
    expect(new Set(twice.map(({ id }) => id)).size).toBe(1);
    const another = await visitorOf({ assistantId: await quietAssistant(running.api) });
    const elsewhere = await another.start();
    expect(await another.post(elsewhere.id, "Hello", "m-1")).toMatchObject({ content: "Hello" });
    const said = (await visitor.chat(chat.id)).messages.filter(({ role }) => role === "USER");
    expect(said).toMatchObject([{ content: "Are you open?", clientId: "m-1" }]);
    await visitor.end(chat.id);
    expect((await visitor.post(chat.id, "Are you open?", "m-1")).id).toBe(said[0]!.id);
    expect(await refused(visitor, POST, { input: { chatId: chat.id, content: "more" } })).toBe("CHAT_ENDED");
  });

  test.each([
    ["content", ""],
    ["content", "x".repeat(16_001)],
    ["clientId", ""],
    ["clientId", "x".repeat(65)],
    ["clientId", null],
  ])("cannot send a message with an invalid %s", async (name, value) => {
    const visitor = await visitorOf({ assistantId: await quietAssistant(running.api) });
    const { id: chatId } = await visitor.start();
    const { extensions } = await visitor.api.gqlError(POST, {
      input: { chatId, content: "x", [name]: value },
    });
    expect(extensions).toMatchObject({ code: "BAD_USER_INPUT", details: [{ path: `input.${name}` }] });
  });
});

describe("variables of a page", () => {
  test("are used in the prompt; updates apply to the next turn", async () => {
    const model = await stubModel({ text: ["Hi."] });
    await running.api.gql(
      'mutation ($url: String!) { setModelCredential(input: { provider: OPENAI, apiKey: "k", baseUrl: $url }) { provider } }',
      { url: model.url },
    );
    const assistantId = await quietAssistant(running.api, { name: "Ada", variables: { plan: "test" } });
    const prompt = "They are {person}, plan {plan}.";
    await running.api.patch(`/rest/v1/assistants/${assistantId}/chat`, { prompt }, 200);
    const visitor = await visitorOf({ assistantId });
    const { id: chatId } = await visitor.start({ variables: { person: "Ada" }, metadata: { a: 1 } });
    await ask(visitor, chatId, "One?");
    await visitor.update({ chatId, variables: { person: "Grace", plan: "gold" } });
    await ask(visitor, chatId, "Two?");
    await visitor.update({ chatId, metadata: { b: 2 } });
    await visitor.update({ chatId, variables: {} });
    await ask(visitor, chatId, "Three?");
    const systems = model.asked.map(({ messages }) => messages[0]!.content);
    expect(systems).toEqual([
      expect.stringContaining("They are Ada, plan test."),
      expect.stringContaining("They are Grace, plan gold."),
      expect.stringContaining("They are {person}, plan test."),
    ]);
    const { chat } = await running.api.gql("query ($id: ID!) { chat(id: $id) { metadata } }", { id: chatId });
    expect(chat.metadata).toEqual({ b: 2 });
    await visitor.end(chatId);
    const UPDATE = "mutation ($input: WidgetChatUpdate!) { updateWidgetChat(input: $input) { id } }";
    expect(await refused(visitor, UPDATE, { input: { chatId, variables: {} } })).toBe("CHAT_ENDED");
    await running.api.gql("mutation { setModelCredential(input: { provider: OPENAI }) { provider } }");
    await model.stop();
  });

  test("fill the greeting that is shown before the first message", async () => {
    const assistantId = await newAssistant(running.api, { name: "Ada", variables: { company: "Example" } });
    const initialMessage = "Hello {person}, this is {company}.";
    await running.api.patch(`/rest/v1/assistants/${assistantId}/chat`, { initialMessage }, 200);
    const visitor = await visitorOf({ assistantId });
    const { widget } = await visitor.api.gql(
      "query ($v: JSONObject) { widget { plain: greeting filled: greeting(variables: $v) } }",
      { v: { person: "Grace", company: "Acme" } },
    );
    expect(widget).toEqual({
      plain: "Hello {person}, this is Example.",
      filled: "Hello Grace, this is Acme.",
    });
  });
});

describe("a page shows", () => {
  test("the assistant's name, greeting and channels, and the public part of the theme", async () => {
    const assistantId = await newAssistant(running.api);
    await setTheme(assistantId, {
      theme: {
        primaryColor: "#123456",
        title: "Ask us",
        position: "left",
        avatarUrl: "https://example.com/a.png",
        borderRadius: 8,
        subtitle: { html: "<b>" },
        note: "our own",
      },
    });
    const expected = {
      assistantId,
      name: "Ada",
      mode: "VOICE_AND_CHAT",
      theme: {
        primaryColor: "#123456",
        title: "Ask us",
        position: "left",
        avatarUrl: "https://example.com/a.png",
        borderRadius: 8,
      },
      textEnabled: true,
      voiceEnabled: true,
      engineVoice: false,
      greeting: "Hello! How can I help you today?",
    };
    expect(await widgetOf({ assistantId })).toEqual(expected);
    const visitor = await visitorOf({ assistantId });
    await setTheme(assistantId, {
      theme: { position: "top", avatarUrl: "javascript:alert(1)", title: "Hi" },
    });
    const { widget } = await visitor.api.gql("{ widget { name theme } }");
    expect(widget).toEqual({ name: "Ada", theme: { title: "Hi" } });
  });

  test.each([
    ["CHAT_ONLY", true, false],
    ["VOICE_ONLY", false, true],
    ["VOICE_AND_CHAT", true, true],
  ])("in mode %s what can be started", async (mode, text, voice) => {
    const assistantId = await newAssistant(running.api);
    await setMode(assistantId, mode);
    expect(await widgetOf({ assistantId })).toMatchObject({ mode, textEnabled: text, voiceEnabled: voice });
    const visitor = await visitorOf({ assistantId });
    for (const [channel, offered] of [
      ["TEXT", text],
      ["VOICE", voice],
    ] as const)
      if (offered) expect((await visitor.start({ channel })).channel).toBe(channel);
      else expect(await refused(visitor, START, { input: { channel } })).toBe("CHANNEL_DISABLED");
  });

  test("no text if the channel is disabled", async () => {
    const assistantId = await newAssistant(running.api);
    await running.api.patch(`/rest/v1/assistants/${assistantId}/chat`, { chatMode: false }, 200);
    expect(await widgetOf({ assistantId })).toMatchObject({ textEnabled: false, voiceEnabled: true });
    const visitor = await visitorOf({ assistantId });
    expect(await refused(visitor, START, { input: {} })).toBe("CHANNEL_DISABLED");
  });

  test.each([
    ["TEXT_IFRAME", "TEXT", "VOICE"],
    ["TEXT_BUBBLE", "TEXT", "VOICE"],
    ["VOICE_BUBBLE", "VOICE", "TEXT"],
    ["VOICE_IFRAME", "VOICE", "TEXT"],
  ])("for a deployment of type %s its channel", async (type, offered, other) => {
    const assistantId = await newAssistant(running.api);
    const deploymentId = await deploymentOf({ type, assistantId });
    const visitor = await visitorOf({ deploymentId });
    expect(await refused(visitor, START, { input: { channel: other } })).toBe("CHANNEL_DISABLED");
    const { id } = await visitor.start({ channel: offered });
    expect(await visitor.chats()).toMatchObject([{ id, channel: offered }]);
    const direct = await visitorOf({ assistantId });
    expect(await direct.chats()).toEqual([]);
  });

  test.each(["SMS", "PHONE_OUTBOUND", "PHONE_INBOUND", "API"])(
    "nothing for a deployment of type %s, or for a disabled one",
    async (type) => {
      const assistantId = await newAssistant(running.api);
      const off = await deploymentOf({ type: "TEXT_BUBBLE", assistantId, enabled: false });
      for (const deploymentId of [await deploymentOf({ type, assistantId }), off])
        expect((await sessionRefused(page(), { deploymentId })).extensions.code).toBe("CHANNEL_DISABLED");
    },
  );

  test("for a workflow the first speaker, and a chat runs the workflow", async () => {
    const assistantId = await newAssistant(running.api, { name: "First" });
    const { workflowId } = await buildFlow(running.api, { assistantId });
    const deploymentId = await deploymentOf({ type: "TEXT_BUBBLE", workflowId });
    expect(await widgetOf({ deploymentId })).toMatchObject({ assistantId, name: "First" });
    const visitor = await visitorOf({ deploymentId });
    const { id } = await visitor.start({ variables: { set: "by the page" } });
    const { chat } = await running.api.gql(
      "query ($id: ID!) { chat(id: $id) { workflow { id } variables } }",
      { id },
    );
    expect(chat).toEqual({ workflow: { id: workflowId }, variables: { set: "by the page" } });
    await visitor.update({ chatId: id, variables: { more: 1 } });
    const { chat: later } = await running.api.gql("query ($id: ID!) { chat(id: $id) { variables } }", { id });
    expect(later.variables).toEqual({ set: "by the page", more: 1 });
  });

  test.each([
    ["no target", {}, "BAD_USER_INPUT"],
    ["two targets", { assistantId: UNKNOWN_ID, deploymentId: UNKNOWN_ID }, "BAD_USER_INPUT"],
    ["an unknown assistant", { assistantId: UNKNOWN_ID }, "ASSISTANT_NOT_FOUND"],
    ["an unknown deployment", { deploymentId: UNKNOWN_ID }, "DEPLOYMENT_NOT_FOUND"],
    ["a template", { assistantId: "019b8d62-7a80-7a31-8c52-4be1f07d9a36" }, "TEMPLATE_READ_ONLY"],
  ])("nothing for %s", async (_what, input, code) => {
    expect((await sessionRefused(page(), input)).extensions.code).toBe(code);
  });

  test("no calls if there is no voice engine for them", async () => {
    const visitor = await visitorOf({ assistantId: await newAssistant(running.api) });
    const CALL = "mutation { startWidgetCall(input: {}) { id webCallUrl } }";
    expect(await refused(visitor, CALL)).toBe("CHANNEL_DISABLED");
  });
});
