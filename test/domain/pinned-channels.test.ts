import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { ended, FAST, NUMBER, place, said, speaker } from "../support/calls";
import { newAssistant } from "../support/factories";
import { buildFlow, newFlow } from "../support/flows";
import { Receiver } from "../support/receiver";
import { afterTest } from "../support/server";
import { answeredBy, chatsWith, connect, newPerson, text, wordsOf } from "../support/sms";
import { stubModel, type Reply } from "../support/stub-model";
import { until } from "../support/until";
import { startSession, VisitorClient } from "../support/visitor";

const running = useApp(FAST);

const CURRENT = "query ($id: ID!) { assistant(id: $id) { version { number } } }";
const CALLS = `query ($to: String!) { calls(filter: { phoneNumber: $to }) { nodes { id chat { version { number } } } } }`;
const VERSION = "query ($id: ID!) { chat(id: $id) { draft version { number } } }";
const SAVE = `mutation ($id: ID!, $input: AssistantDraftInput!) { saveAssistantDraft(assistantId: $id, input: $input) { basedOn } }`;
const DEPLOYMENT = "id assistantVersion assistant { id }";
const DEPLOY = `mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { ${DEPLOYMENT} } }`;
const REDEPLOY = `mutation ($id: ID!, $input: UpdateDeploymentInput!) { updateDeployment(id: $id, input: $input) { ${DEPLOYMENT} } }`;
const START = `mutation ($input: StartChatInput!) { startChat(input: $input) { id greeting version { number } } }`;

const currentOf = async (id: string): Promise<number> =>
  (await running.api.gql(CURRENT, { id })).assistant.version.number;
const versionOf = async (id: string) => (await running.api.gql(VERSION, { id })).chat;
const patch = (id: string, part: string, body: object) =>
  running.api.patch(`/rest/v1/assistants/${id}${part}`, body, 200);
const deploy = async (input: object) => (await running.api.gql(DEPLOY, { input })).createDeployment;
const redeploy = async (id: string, input: object) =>
  (await running.api.gql(REDEPLOY, { id, input })).updateDeployment;
const start = async (input: object) => (await running.api.gql(START, { input })).startChat;
const ask = async (aiChatId: string, content: string): Promise<string> => {
  const body = { aiChatId, role: "USER", channel: "TEXT", content, metadata: {} };
  return (await running.api.post("/rest/v1/ai-chats/messages?wait=true", body, 201)).reply.content;
};

async function asks(...replies: Reply[]) {
  const model = await stubModel(...replies);
  afterTest(model.stop);
  await answeredBy(running, model);
  return { ...model, told: () => model.asked.map(({ messages }) => messages[0]!.content) };
}

describe("texts", () => {
  test("continue the version of their chat, and a call back runs it too", async () => {
    const model = await asks({ text: ["Fine."] });
    const id = await newAssistant(running.api);
    await patch(id, "/sms", { initialMessage: "", prompt: "First.", voiceCallMode: true });
    const number = await currentOf(id);
    const line = await connect(running, [id]);
    const from = newPerson();
    expect(await text(running, line, from, "Hello")).toEqual(["Fine."]);
    await patch(id, "/sms", { prompt: "Second.", voiceCallMode: false });
    expect(await text(running, line, from, "And now?")).toEqual(["Fine."]);
    expect(await text(running, line, from, "Call me")).toEqual(["We are calling you now."]);
    const [call] = (await running.api.gql(CALLS, { to: from })).calls.nodes;
    expect(call.chat.version.number).toBe(number);
    await ended(running.api, call.id); // it asks the model, too
    expect(model.told().slice(0, 2)).toEqual(["First.", "First."]);

    const other = newPerson();
    await text(running, line, other, "Hello");
    expect(model.told()).toContain("Second.");
    expect(await text(running, line, other, "Call me")).toEqual(["Fine."]);
    await patch(id, "/sms", { smsMode: false });
    expect(await text(running, line, other, "Still there?")).toEqual([expect.not.stringMatching("Fine.")]);
  });

  test("to a deployment with a version are routed and answered by that version", async () => {
    const model = await asks({ text: ["Fine."] });
    const [id, other] = [await newAssistant(running.api), await newAssistant(running.api)];
    await patch(other, "/sms", { initialMessage: "", prompt: "Other." });
    await patch(id, "/sms", { initialMessage: "", prompt: "First.", keywords: "repair" });
    const assistantVersion = await currentOf(id);
    await patch(id, "/sms", { prompt: "Second.", keywords: "buy" });
    const line = await connect(running, [other]);
    await deploy({ type: "SMS", assistantId: id, assistantVersion, telephonyConnectionId: line.id });
    const from = newPerson();
    await text(running, line, from, "A repair, please");
    expect(model.told()).toEqual(["First."]);
    expect((await chatsWith(running, id, from)).map(wordsOf)).toEqual([
      ["USER: A repair, please", "ASSISTANT: Fine."],
    ]);
    await text(running, line, newPerson(), "I want to buy");
    expect(model.told()).toEqual(["First.", "Other."]);
  });
});

describe("texts to a workflow", () => {
  const CHANGE = `mutation ($id: ID!, $input: UpdateWorkflowNodeInput!) { updateWorkflowNode(id: $id, input: $input) { id } }`;
  const DELETE = "mutation ($id: ID!) { deleteWorkflowEdge(id: $id) { id } }";

  test("continue their chat while the workflow gets another first assistant, or cannot run", async () => {
    const { api } = running;
    await asks({ text: ["Fine."] });
    const [id, other] = [await newAssistant(api), await newAssistant(api)];
    for (const one of [id, other]) await patch(one, "/sms", { initialMessage: "" });
    const { workflowId, nodes, edges } = await buildFlow(api, { assistantId: id });
    const line = await connect(running, []);
    await deploy({ type: "SMS", workflowId, telephonyConnectionId: line.id });
    const from = newPerson();
    const heard = ["Hello", "And now?", "Still there?"];
    await text(running, line, from, heard[0]!);
    await api.gql(CHANGE, { id: nodes.talk, input: { assistantId: other } });
    await text(running, line, from, heard[1]!);
    await api.gql(DELETE, { id: edges[0] });
    await text(running, line, from, heard[2]!);
    expect((await chatsWith(running, id, from)).map(wordsOf)).toEqual([
      heard.flatMap((words) => [`USER: ${words}`, "ASSISTANT: Fine."]),
    ]);
    expect(await chatsWith(running, other, from)).toEqual([]);
    expect(await text(running, line, newPerson(), "Hello")).toEqual([]);
  });
});

describe("a simulated call", () => {
  const LINES = { metadata: { simulatedCustomer: ["First question?", "Second question?"] } };

  test("runs the version of its start to its end, also what it says last", async () => {
    let release: (value: unknown) => void = () => undefined;
    const held = new Promise((resolve) => (release = resolve));
    const model = await asks({ text: ["One ", "moment."], held }, { call: "end_call", arguments: "{}" });
    const voice = { endCallFunction: true, endCallMessage: "End of the first." };
    const id = await speaker(running.api, { prompt: "First.", initialMessage: "I am first.", ...voice });
    const number = await currentOf(id);
    const callId = await place(running.api, id, NUMBER.answers, LINES);
    await until(() => model.asked.length === 1);
    await patch(id, "/voice", {
      prompt: "Second.",
      endCallFunction: false,
      endCallMessage: "End of the second.",
    });
    release(undefined);
    const call = await ended(running.api, callId);
    expect(model.told()).toEqual(["First.", "First."]);
    expect(said(call).at(-1)).toBe("ASSISTANT: End of the first.");
    expect(await versionOf(callId)).toEqual({ draft: false, version: { number } });
  });

  test("runs the version of its acceptance, the version of its request, or the draft", async () => {
    const { api } = running;
    await asks({ text: ["Fine."] });
    const id = await speaker(api, { initialMessage: "I am first." });
    const assistantVersion = await currentOf(id);
    await patch(id, "/voice", { initialMessage: "I am second." });
    await api.gql(SAVE, { id, input: { voice: { initialMessage: "I am a draft." } } });
    const greetingOf = async (callId: string) => said(await ended(api, callId))[0];
    for (const path of ["/rest/v1/call/phone", "/rest/v1/assistants/phone-calls/initiate"]) {
      const body = { assistantId: id, phoneNumber: NUMBER.answers, assistantVersion };
      const answer = await api.post(path, body, 200);
      expect(Object.keys(answer)).toEqual(["id"]);
      expect(await greetingOf(answer.id)).toBe("ASSISTANT: I am first.");
    }
    const PLACE = "mutation ($input: PlaceAssistantCallInput!) { placeAssistantCall(input: $input) { id } }";
    const input = { assistantId: id, phoneNumber: NUMBER.answers, draft: true };
    const { placeAssistantCall: call } = await api.gql(PLACE, { input });
    expect(await greetingOf(call.id)).toBe("ASSISTANT: I am a draft.");
    expect((await versionOf(call.id)).draft).toBe(true);
    expect(await greetingOf(await place(api, id, NUMBER.answers))).toBe("ASSISTANT: I am second.");
    const { id: deploymentId } = await deploy({ type: "PHONE_OUTBOUND", assistantId: id, assistantVersion });
    const deployed = await api.post(
      "/rest/v2/call/phone",
      { deploymentId, phoneNumber: NUMBER.answers },
      200,
    );
    expect(await greetingOf(deployed.id)).toBe("ASSISTANT: I am first.");
  });
});

describe("a widget", () => {
  test("shows and talks as the version of its deployment, with the theme of now", async () => {
    const { api, url, publicKey } = running;
    const model = await asks({ text: ["Fine."] });
    const id = await newAssistant(api, { name: "First", variables: { city: "Rome" } });
    await patch(id, "/chat", { prompt: "First.", initialMessage: "First of {city}." });
    const assistantVersion = await currentOf(id);
    await patch(id, "", { name: "Second", variables: { city: "Bern" } });
    await patch(id, "/chat", { prompt: "Second.", initialMessage: "Second." });
    const { id: deploymentId } = await deploy({ type: "TEXT_BUBBLE", assistantId: id, assistantVersion });
    await patch(id, "/theme", { theme: { title: "New" } });
    const session = await startSession(url, publicKey, { deploymentId });
    expect(session.widget).toMatchObject({
      name: "First",
      greeting: "First of Rome.",
      theme: { title: "New" },
    });
    const visitor = new VisitorClient(url, session.token);
    const chat = await visitor.start({});
    await redeploy(deploymentId, { assistantVersion: null });
    await visitor.post(chat.id, "Hello");
    await until(() => model.asked.length === 1);
    expect(model.told()).toEqual(["First."]);
    expect((await versionOf(chat.id)).version.number).toBe(assistantVersion);
    expect((await startSession(url, publicKey, { deploymentId })).widget).toMatchObject({
      name: "Second",
      greeting: "Second.",
    });
    await patch(id, "/chat", { chatMode: false });
    expect((await startSession(url, publicKey, { deploymentId })).widget).toMatchObject({
      textEnabled: false,
    });
    await visitor.close();
  });

  test("conducts a call in its own page with the version of its start", async () => {
    const { api, url, publicKey } = running;
    const model = await asks({ text: ["Fine."] });
    const id = await speaker(api, { prompt: "First.", initialMessage: "" }, { name: "First" });
    const visitor = await VisitorClient.of(url, publicKey, { assistantId: id });
    const chat = await visitor.start({ channel: "VOICE" });
    await patch(id, "/voice", { prompt: "Second." });
    await visitor.post(chat.id, "Hello");
    await until(() => model.asked.length === 1);
    expect(model.told()).toEqual(["First."]);
    await visitor.close();
  });
});

describe("a deployment", () => {
  test("has a version only of its assistant", async () => {
    const [one, two] = [await newAssistant(running.api), await newAssistant(running.api)];
    await patch(one, "/chat", { prompt: "Be brief." });
    const made = await deploy({ type: "API", assistantId: one, assistantVersion: 1 });
    expect(made).toEqual({ id: made.id, assistantVersion: 1, assistant: { id: one } });
    expect((await redeploy(made.id, { enabled: true })).assistantVersion).toBe(1);
    expect((await redeploy(made.id, { assistantVersion: 2 })).assistantVersion).toBe(2);
    expect((await redeploy(made.id, { assistantId: two })).assistantVersion).toBeNull();
    expect(await redeploy(made.id, { assistantId: one, assistantVersion: 2 })).toMatchObject({
      assistantVersion: 2,
    });
    const flow = await newFlow(running.api, { start: { type: "START" } });
    for (const input of [
      { assistantVersion: 3 },
      { assistantId: two, assistantVersion: 2 },
      { workflowId: flow.workflowId, assistantVersion: 1 },
    ]) {
      const { extensions } = await running.api.gqlError(REDEPLOY, { id: made.id, input });
      expect(extensions).toMatchObject({
        code: "BAD_USER_INPUT",
        details: [{ path: "input.assistantVersion" }],
      });
    }
    expect((await redeploy(made.id, { workflowId: flow.workflowId })).assistantVersion).toBeNull();
  });
});

describe("a workflow", () => {
  let functions: Receiver;
  beforeAll(async () => {
    functions = await new Receiver((res) => void res.end('"done"')).start();
  });
  afterAll(() => functions.stop());

  /** An assistant with a function at an address that names the version. */
  const speaking = async (name: string, version: number): Promise<string> => {
    const id = await newAssistant(running.api, { name });
    await publish(id, name, version);
    return id;
  };
  const publish = (id: string, name: string, version: number) =>
    patch(id, "/chat", {
      initialMessage: `${name} ${version} greets.`,
      prompt: `${name} ${version}.`,
      functions: [{ name: "note", serverUrl: `${functions.url}${name}${version}` }],
    });

  test("runs each of its assistants in the version of the start", async () => {
    const model = await asks(
      { text: ["Fine."] },
      { call: "go_to_booking", arguments: "{}" },
      { text: ["Booked."] },
      { call: "go_to_bye", arguments: "{}" },
    );
    const [desk, booking] = [await speaking("Desk", 1), await speaking("Booking", 1)];
    const flow = await newFlow(
      running.api,
      {
        start: { type: "START" },
        desk: { type: "PROMPT", name: "Front desk", assistantId: desk },
        note: { type: "ACTION", name: "Booking", assistantId: booking, functionName: "note" },
        book: { type: "PROMPT", name: "Book", assistantId: booking },
        end: { type: "END", name: "Bye" },
      },
      [
        ["start", "desk"],
        ["desk", "note", { kind: "MODEL", description: "Wants to book." }],
        ["note", "book"],
        ["book", "end", { kind: "MODEL", description: "Is done." }],
      ],
    );
    const chat = await start({ workflowId: flow.workflowId });
    const { number } = chat.version;
    for (const version of [2, 3]) {
      await publish(desk, "Desk", version);
      await publish(booking, "Booking", version);
    }
    await ask(chat.id, "Hello");
    expect(await ask(chat.id, "Book it")).toBe("Booked.");
    expect(model.told().map((prompt) => String(prompt).split("\n")[0])).toEqual([
      "Desk 1.",
      "Desk 1.",
      "Booking 1.",
    ]);
    expect((await versionOf(chat.id)).version.number).toBe(number);
    const [called] = await running.database.query<{ speaker_versions: Record<string, number> }>(
      "select speaker_versions from chats where id = $1",
      [chat.id],
    );
    expect(called!.speaker_versions).toEqual({ [desk]: number, [booking]: number });

    const next = await start({ workflowId: flow.workflowId });
    expect(next.greeting).toBe("Desk 3 greets.");
  });

  test("calls the function of an ACTION as the version of the start declares it", async () => {
    const id = await speaking("One", 1);
    const flow = await newFlow(
      running.api,
      {
        start: { type: "START" },
        one: { type: "PROMPT", name: "One", assistantId: id },
        note: { type: "ACTION", name: "Note", assistantId: id, functionName: "note" },
        end: { type: "END", name: "Bye", message: "Bye." },
      },
      [
        ["start", "one"],
        ["one", "note", { kind: "MODEL", description: "Wants a note." }],
        ["note", "end"],
      ],
    );
    await asks({ call: "go_to_note", arguments: "{}" });
    const chat = await start({ workflowId: flow.workflowId });
    await patch(id, "/chat", { functions: [] });
    const before = functions.received.length;
    await ask(chat.id, "A note");
    expect(functions.received).toHaveLength(before + 1);
  });

  test("pins an assistant that it gets later when the conversation first reaches it", async () => {
    const model = await asks({ call: "go_to_second", arguments: "{}" }, { text: ["Fine."] });
    const [one, two, late] = [await speaking("One", 1), await speaking("Two", 1), await speaking("Late", 1)];
    const flow = await newFlow(
      running.api,
      {
        start: { type: "START" },
        one: { type: "PROMPT", name: "First", assistantId: one },
        two: { type: "PROMPT", name: "Second", assistantId: two },
        end: { type: "END", name: "Bye" },
      },
      [
        ["start", "one"],
        ["one", "two", { kind: "MODEL", description: "Goes on." }],
        ["two", "end", { kind: "MODEL", description: "Is done." }],
      ],
    );
    const chat = await start({ workflowId: flow.workflowId });
    const UPDATE = `mutation ($id: ID!, $input: UpdateWorkflowNodeInput!) { updateWorkflowNode(id: $id, input: $input) { id } }`;
    await running.api.gql(UPDATE, { id: flow.nodes.two, input: { assistantId: late } });
    await publish(late, "Late", 2);
    await ask(chat.id, "Go on");
    await publish(late, "Late", 3);
    await ask(chat.id, "And now?");
    expect(model.told().map((prompt) => String(prompt).split("\n")[0])).toEqual([
      "One 1.",
      "Late 2.",
      "Late 2.",
    ]);
  });
});
