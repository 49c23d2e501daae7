import { beforeAll, describe, expect, test } from "@jest/globals";
import { newAssistant } from "../support/factories";
import { newFlow } from "../support/flows";
import { MESSAGES, useEngine } from "../support/engine";
import { bring, chatsWith, connect, newPerson } from "../support/sms";
import { smsOf } from "../support/twilio";
import { startSession, VisitorClient } from "../support/visitor";

const SECRET = "one-secret-for-all-calls";
const running = useEngine({ VOICE_ENGINE_SECRET: SECRET, VAPI_PUBLIC_KEY: "public" });

const CHAT = `query ($id: ID!) { chat(id: $id) { assistant { id } workflowNode { name } messages(last: 50) { content } } }`;
const chatOf = async (id: string) => (await running.api.gql(CHAT, { id })).chat;

async function speaker(name: string, variables: object | null): Promise<string> {
  const id = await newAssistant(running.api, { name, variables });
  for (const kind of ["voice", "sms", "chat"])
    await running.api.patch(
      `/rest/v1/assistants/${id}/${kind}`,
      { initialMessage: `I am ${name}.`, prompt: `You are ${name}. Say {unset${name}}.`, functions: [] },
      200,
    );
  return id;
}

/** A workflow in which Night speaks if `shift` is "night", and Day otherwise. */
async function shifts(day: string, night: string): Promise<string> {
  const { workflowId } = await newFlow(
    running.api,
    {
      start: { type: "START" },
      day: { type: "PROMPT", name: "day", assistantId: day },
      night: { type: "PROMPT", name: "night", assistantId: night },
      end: { type: "END" },
    },
    [
      ["start", "night", { kind: "VARIABLE", variable: "shift", operator: "EQUALS", value: "night" }],
      ["start", "day"],
      ["day", "end", { kind: "MODEL", description: "It is over." }],
      ["night", "end", { kind: "MODEL", description: "It is over." }],
    ],
  );
  return workflowId;
}

const DEPLOY = "mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }";
const deployed = async (input: object): Promise<string> =>
  (await running.api.gql(DEPLOY, { input })).createDeployment.id as string;

const START = "mutation ($input: StartChatInput!) { startChat(input: $input) { id greeting } }";
const SET_MISSING =
  "mutation ($id: ID!, $input: UpdateAssistantInput!) { updateAssistant(id: $id, input: $input) { id } }";

let [day, night, workflowId, widget] = ["", "", "", ""];
beforeAll(async () => {
  [day, night] = [await speaker("Day", { shift: "night" }), await speaker("Night", { shift: "night" })];
  workflowId = await shifts(day, night);
  widget = await deployed({ type: "TEXT_BUBBLE", workflowId });
});

const PHONE = { phoneNumber: "+41783000132" };
const mutation = (name: string, type: string) => async (input: object) => {
  const { result } = await running.api.gql(
    `mutation ($input: ${type}!) { result: ${name}(input: $input) { id } }`,
    { input },
  );
  return result.id as string;
};
const WAYS: Readonly<Record<string, (input: object) => Promise<string>>> = {
  startChat: mutation("startChat", "StartChatInput"),
  "REST ai-chats": async (input) => (await running.api.post("/rest/v1/ai-chats", input, 201)).id,
  placeWorkflowCall: (input) =>
    mutation("placeWorkflowCall", "PlaceWorkflowCallInput")({ ...input, ...PHONE }),
  "REST v2 call": async (input) =>
    (await running.api.post("/rest/v2/call/phone", { ...input, ...PHONE }, 200)).id,
  startWebCall: mutation("startWebCall", "StartWebCallInput"),
};

describe("a workflow whose first condition depends on a variable of the assistant", () => {
  test.each(Object.entries(WAYS))("counts, by %s, for the assistant that speaks first", async (_, start) => {
    expect((await chatOf(await start({ workflowId }))).assistant).toEqual({ id: night });
    const id = await start({ workflowId, variables: { shift: "day" } });
    expect((await chatOf(id)).assistant).toEqual({ id: day });
  });

  test("is checked for the variables of the assistant that speaks first", async () => {
    const { body } = await running.api.graphql(START, { input: { workflowId } });
    expect(body.data.startChat.greeting).toBe("I am Night.");
    expect(body.extensions.warnings.join()).toMatch(/\{unsetNight\} in prompt/);
  });

  test("greets on a web page with the assistant that speaks first", async () => {
    const { token, widget: shown } = await startSession(running.url, running.publicKey, {
      deploymentId: widget,
    });
    expect(shown).toMatchObject({ assistantId: night, name: "Night", greeting: "I am Night." });
    const visitor = new VisitorClient(running.url, token);
    const chat = await visitor.start();
    expect(chat.messages.map(({ content }) => content)).toEqual(["I am Night."]);
    expect((await chatOf(chat.id)).assistant).toEqual({ id: night });
    const variables = { shift: "day" };
    const greeting = "query ($variables: JSONObject) { widget { greeting(variables: $variables) } }";
    expect((await visitor.api.gql(greeting, { variables })).widget.greeting).toBe("I am Day.");
    expect((await visitor.start({ variables })).messages.map(({ content }) => content)).toEqual([
      "I am Day.",
    ]);
  });

  test("answers calls and texts with the assistant that speaks first", async () => {
    const line = await connect(running, []);
    await deployed({ type: "PHONE_INBOUND", workflowId, telephonyConnectionId: line.id });
    await deployed({ type: "SMS", workflowId, telephonyConnectionId: line.id });
    const message = {
      type: "assistant-request",
      customer: { number: "+41783000002" },
      call: { id: "inbound-shift" },
      phoneNumber: { number: line.phoneNumber },
    };
    const { assistant } = await running.api.as({ "x-vapi-secret": SECRET }).post(MESSAGES, { message }, 201);
    expect(assistant.firstMessage).toBe("I am Night.");
    const person = newPerson();
    await bring(running, line, smsOf(line, person, "Hello"), { at: "https://parley.example" });
    const [chat] = await chatsWith(running, night, person);
    expect(chat!.messages[0]!.content).toBe("I am Night.");
  });

  describe("in which no assistant's variables lead to itself", () => {
    let [one, other, cycle] = ["", "", ""];
    beforeAll(async () => {
      [one, other] = [await speaker("One", { shift: "night" }), await speaker("Other", { shift: "day" })];
      cycle = await shifts(one, other);
    });
    const setMissing = (id: string, missingVariables: string) =>
      running.api.gql(SET_MISSING, { id, input: { missingVariables } });

    test("starts for the first one, and another one speaks", async () => {
      const { assistant, workflowNode, messages } = await chatOf(
        await WAYS.startChat!({ workflowId: cycle }),
      );
      expect([assistant.id, workflowNode.name, messages]).toEqual([
        one,
        "night",
        [{ content: "I am Other." }],
      ]);
    });

    test("is checked for the variables of the one that speaks", async () => {
      const { body } = await running.api.graphql(START, { input: { workflowId: cycle } });
      expect(body.data.startChat.greeting).toBe("I am Other.");
      expect(body.extensions.warnings.join()).toMatch(/\{unsetOther\} in prompt/);
      expect(body.extensions.warnings.join()).not.toContain("unsetOne");
    });

    test("shows a web page the greeting of the one that speaks", async () => {
      const deploymentId = await deployed({ type: "TEXT_BUBBLE", workflowId: cycle });
      const { token, widget: shown } = await startSession(running.url, running.publicKey, { deploymentId });
      expect(shown).toMatchObject({ assistantId: one, greeting: "I am Other." });
      const greeting = "{ widget { greeting(variables: {}) } }";
      const { api } = new VisitorClient(running.url, token);
      expect((await api.gql(greeting)).widget.greeting).toBe("I am Other.");
    });

    test.each(Object.keys(WAYS))("is refused, by %s, if the one that speaks refuses", async (name) => {
      await setMissing(one, "REFUSE");
      await WAYS[name]!({ workflowId: cycle });
      await setMissing(one, "KEEP");
      await setMissing(other, "REFUSE");
      await expect(WAYS[name]!({ workflowId: cycle })).rejects.toThrow("{unsetOther} in prompt");
      await WAYS[name]!({ workflowId: cycle, variables: { unsetOther: "x" } });
      await setMissing(other, "KEEP");
    });
  });
});
