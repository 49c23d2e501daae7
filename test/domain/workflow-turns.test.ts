import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newAssistant } from "../support/factories";
import { newFlow, problemsOf, type BuiltFlow, type Edge } from "../support/flows";
import { Receiver } from "../support/receiver";
import { afterTest } from "../support/server";
import { until } from "../support/until";
import { stubModel, type Reply } from "../support/stub-model";

const running = useApp({ WORKER: "on" });

const START = `mutation ($input: StartChatInput!) { startChat(input: $input) {
  id status endedReason variables workflow { id } deployment { id } workflowNode { name }
  assistant { id } messages { role content metadata } } }`;
const CHAT = `query ($id: ID!) { chat(id: $id) { status endedReason variables workflowNode { name }
  messages(last: 500) { role content metadata toolCalls } } }`;
const POST = `mutation ($input: PostMessageInput!) { postMessage(input: $input, wait: true) { role content metadata } }`;

const start = async (input: object) => (await running.api.gql(START, { input })).startChat;
const chatOf = async (id: string) => (await running.api.gql(CHAT, { id })).chat;
const post = async (aiChatId: string, content: string) => {
  const input = { aiChatId, role: "USER", channel: "TEXT", content, metadata: {} };
  return (await running.api.gql(POST, { input })).postMessage;
};
interface SpokenMessage {
  readonly role: string;
  readonly content: string | null;
  readonly metadata: { readonly workflowNodeName?: string };
}
const said = async (id: string): Promise<string[]> =>
  (await chatOf(id)).messages
    .filter(({ content, role }: SpokenMessage) => content !== null && role !== "TOOL")
    .map(({ role, content, metadata }: SpokenMessage) =>
      role === "USER" ? content : `${metadata.workflowNodeName}: ${content}`,
    );

/** A server that answers function calls. */
let functions: Receiver;
beforeAll(async () => {
  functions = await new Receiver().start();
});
afterAll(() => functions.stop());

/** An assistant that answers from its resources or greets; its functions are at `functions`. */
async function speaker(name: string, chat: object = {}): Promise<string> {
  const { api } = running;
  const id = await newAssistant(api, { name });
  const LOOK_UP = {
    name: "look_up",
    parameters: { type: "object", properties: { order: { type: "number" } } },
  };
  await api.patch(
    `/rest/v1/assistants/${id}/chat`,
    {
      initialMessage: `I am ${name}.`,
      prompt: `You are ${name}.`,
      resources: `${name} knows the hours.`,
      functions: [{ ...LOOK_UP, serverUrl: functions.url }],
      ...chat,
    },
    200,
  );
  return id;
}

/** START to a PROMPT, and from there the given nodes. */
async function flowOf(nodes: Parameters<typeof newFlow>[1], edges: readonly Edge[]): Promise<BuiltFlow> {
  const flow = await newFlow(running.api, { start: { type: "START" }, ...nodes }, edges);
  const problems = await problemsOf(running.api, flow.workflowId);
  expect(problems.filter(({ severity }) => severity === "ERROR")).toEqual([]);
  return flow;
}

/** Makes the organization's OPENAI models use a stub. */
async function asks(...replies: Reply[]) {
  const model = await stubModel(...replies);
  const set = `mutation ($input: ModelCredentialInput!) { setModelCredential(input: $input) { provider } }`;
  await running.api.gql(set, { input: { provider: "OPENAI", baseUrl: model.url, apiKey: "k" } });
  afterTest(() => running.api.gql(set, { input: { provider: "OPENAI" } }));
  afterTest(() => model.stop());
  return model;
}

const systemOf = ({ messages }: { messages: readonly { role: string; content: unknown }[] }) =>
  String(messages.find(({ role }) => role === "system")?.content);
const toolsOf = ({ tools = [] }: { tools?: readonly { function: { name: string } }[] }) =>
  tools.map(({ function: { name } }) => name);

describe("a text chat moves through a workflow", () => {
  test("without a model: by the person's choice, to the last message of END", async () => {
    const [desk, booking] = [await speaker("Desk"), await speaker("Booking")];
    const flow = await flowOf(
      {
        desk: { type: "PROMPT", name: "Front desk", assistantId: desk },
        book: { type: "PROMPT", name: "Booking", assistantId: booking },
        end: { type: "END", name: "Bye", message: "Goodbye, {name}.", endReason: "booked" },
      },
      [
        ["start", "desk"],
        ["desk", "book", { kind: "MODEL", description: "Wants to book.", collects: ["name"] }],
        ["book", "end", { kind: "MODEL", description: "Is done." }],
      ],
    );
    const chat = await start({ workflowId: flow.workflowId });
    expect(chat).toMatchObject({
      workflow: { id: flow.workflowId },
      deployment: null,
      workflowNode: { name: "Front desk" },
      assistant: { id: desk },
      messages: [
        {
          content: "I am Desk.",
          metadata: { greeting: true, workflowNodeId: flow.nodes.desk, workflowNodeName: "Front desk" },
        },
      ],
    });
    expect((await post(chat.id, "Who knows the hours?")).content).toBe("Desk knows the hours.");
    expect(await post(chat.id, 'call:go_to_booking {"name": "Zoe"}')).toMatchObject({
      content: "I am Booking.",
      metadata: { workflowNodeId: flow.nodes.book, workflowNodeName: "Booking" },
    });
    expect((await post(chat.id, "And the hours?")).content).toBe("Booking knows the hours.");
    expect((await post(chat.id, "call:go_to_bye")).content).toBe("Goodbye, Zoe.");
    expect(await chatOf(chat.id)).toMatchObject({
      status: "ended",
      endedReason: "booked",
      variables: { name: "Zoe" },
      workflowNode: { name: "Bye" },
    });
    expect(await said(chat.id)).toEqual([
      "Front desk: I am Desk.",
      "Who knows the hours?",
      "Front desk: Desk knows the hours.",
      'call:go_to_booking {"name": "Zoe"}',
      "Booking: I am Booking.",
      "And the hours?",
      "Booking: Booking knows the hours.",
      "call:go_to_bye",
      "Bye: Goodbye, Zoe.",
    ]);
  });

  test("with a model: each node's assistant gets its own prompt, instructions and transitions", async () => {
    const [desk, booking] = [await speaker("Desk"), await speaker("Booking")];
    const flow = await flowOf(
      {
        desk: { type: "PROMPT", name: "Front desk", assistantId: desk },
        book: { type: "PROMPT", name: "Booking", assistantId: booking, instructions: "Book for {day}." },
        pay: { type: "PROMPT", name: "Paying", assistantId: desk },
        end: { type: "END" },
      },
      [
        ["start", "desk"],
        ["desk", "book", { kind: "MODEL", description: "Wants to book.", collects: ["day"] }],
        ["book", "pay", { kind: "DEFAULT" }],
        ["pay", "end", { kind: "MODEL", description: "Has paid." }],
      ],
    );
    const model = await asks(
      { call: "go_to_booking", arguments: '{"day":"Monday"}' },
      { text: ["Which hour?"] },
      { text: ["That is 20."] },
    );
    const chat = await start({ workflowId: flow.workflowId });
    const booked = await post(chat.id, "I want to book for Monday");
    expect(booked).toMatchObject({ content: "Which hour?", metadata: { workflowNodeName: "Booking" } });
    const paid = await post(chat.id, "At 3");
    expect(paid).toMatchObject({ content: "That is 20.", metadata: { workflowNodeName: "Paying" } });
    const [first, second, third] = model.asked;
    expect([systemOf(first!), systemOf(second!), systemOf(third!)]).toEqual([
      expect.stringContaining("You are Desk."),
      expect.stringContaining("You are Booking.\n\nBook for Monday."),
      expect.stringContaining("You are Desk."),
    ]);
    expect([toolsOf(first!), toolsOf(second!), toolsOf(third!)]).toEqual([
      ["go_to_booking", "look_up"],
      ["look_up"],
      ["go_to_end", "look_up"],
    ]);
    // The new assistant answers the message, and does not see the transition that led to it.
    expect(second!.messages.map(({ role }) => role)).toEqual(["system", "assistant", "user"]);
  });

  test("by a variable's value, at once and through conditions", async () => {
    const [day, night] = [await speaker("Day"), await speaker("Night")];
    const flow = await flowOf(
      {
        open: { type: "CONDITION" },
        day: { type: "PROMPT", assistantId: day },
        night: { type: "PROMPT", assistantId: night },
        end: { type: "END" },
      },
      [
        ["start", "open"],
        ["open", "day", { kind: "VARIABLE", variable: "hour", operator: "LESS", value: "{closing}" }],
        ["open", "night"],
        ["day", "end"],
        ["night", "end"],
      ],
    );
    const greetingAt = async (variables: object) =>
      (await start({ workflowId: flow.workflowId, variables })).messages[0].content;
    expect(await greetingAt({ hour: 9, closing: "18" })).toBe("I am Day.");
    expect(await greetingAt({ hour: "19", closing: 18 })).toBe("I am Night.");
    expect(await greetingAt({})).toBe("I am Night.");
  });

  test("and calls functions on its way: replies become variables, and later speakers know them", async () => {
    functions.answer((res) => void res.end(JSON.stringify({ state: "paid", total: 20 })));
    const [good, bad] = [
      await speaker("Good", { initialMessage: "It is {order.state}." }),
      await speaker("Bad"),
    ];
    const ACTION = { type: "ACTION", assistantId: good, functionName: "look_up", resultVariable: "order" };
    const flow = await flowOf(
      {
        ask: { ...ACTION, name: "Looking up", arguments: { order: "{number}", note: "for {who}" } },
        paid: { type: "CONDITION" },
        good: { type: "PROMPT", assistantId: good },
        bad: { type: "PROMPT", assistantId: bad },
        end: { type: "END" },
      },
      [
        ["start", "ask"],
        ["ask", "paid", { kind: "FUNCTION", functionName: "look_up" }],
        ["ask", "bad"],
        ["paid", "good", { kind: "VARIABLE", variable: "order.state", operator: "EQUALS", value: "PAID" }],
        ["paid", "bad"],
        ["good", "end"],
        ["bad", "end"],
      ],
    );
    const chat = await start({ workflowId: flow.workflowId, variables: { number: "7", who: "Zoe" } });
    await until(async () => (await said(chat.id)).length === 1);
    expect(await said(chat.id)).toEqual(["good: It is paid."]);
    expect(functions.received.at(-1)!.body.function).toEqual({
      name: "look_up",
      arguments: { order: 7, note: "for Zoe" },
    });
    const { messages, variables } = await chatOf(chat.id);
    expect(variables).toMatchObject({ number: "7", "order.state": "paid", "order.total": 20 });
    expect(messages.slice(0, 2)).toMatchObject([
      { role: "ASSISTANT", toolCalls: [{ name: "look_up" }], metadata: { workflowNodeName: "Looking up" } },
      { role: "TOOL", metadata: { workflowNodeName: "Looking up" } },
    ]);
    expect(messages[1].metadata).not.toHaveProperty("failed");
    const model = await asks({ text: ["Fine."] });
    await post(chat.id, "And?");
    expect(systemOf(model.asked[0]!)).toContain('- look_up: {"state":"paid","total":20}');
    await until(async () => (await chatOf(chat.id)).status === "ended");
    expect((await chatOf(chat.id)).endedReason).toBe("workflow-ended");

    functions.answer((res) => void res.writeHead(500).end());
    const failing = await start({ workflowId: flow.workflowId, variables: { number: "7" } });
    await until(async () => (await said(failing.id)).length === 1);
    expect(await said(failing.id)).toEqual(["bad: I am Bad."]);
    expect((await chatOf(failing.id)).messages[1]).toMatchObject({
      role: "TOOL",
      metadata: { failed: true },
    });
  });

  test("and an ACTION calls its function again at each visit, and is identified by its call id", async () => {
    functions.answer((res) => void res.end('"done"'));
    const one = await speaker("One");
    const flow = await flowOf(
      {
        one: { type: "PROMPT", assistantId: one },
        note: { type: "ACTION", assistantId: one, functionName: "look_up" },
        end: { type: "END" },
      },
      [
        ["start", "one"],
        ["one", "end", { kind: "MODEL", description: "Is done." }],
        ["one", "note"],
        ["note", "one"],
      ],
    );
    const before = functions.received.length;
    const chat = await start({ workflowId: flow.workflowId });
    for (const hour of ["nine", "ten"]) await post(chat.id, `Who knows the hours? At ${hour}?`);
    await until(async () => (await chatOf(chat.id)).messages.length === 9);
    const asked = functions.received.slice(before);
    expect(new Set(asked.map(({ body }) => body.id)).size).toBe(2);
    expect(asked.map(({ headers }) => headers["idempotency-key"])).toEqual(asked.map(({ body }) => body.id));
  });

  test("and calls no more functions after the chat has ended", async () => {
    let release = () => undefined as void;
    functions.answer((res) => void (release = () => void res.end('"done"')));
    const one = await speaker("One");
    const ACTION = { type: "ACTION", assistantId: one, functionName: "look_up" };
    const flow = await flowOf(
      { first: ACTION, second: ACTION, one: { type: "PROMPT", assistantId: one }, end: { type: "END" } },
      [
        ["start", "first"],
        ["first", "second"],
        ["second", "one"],
        ["one", "end"],
      ],
    );
    const before = functions.received.length;
    const chat = await start({ workflowId: flow.workflowId });
    await functions.until(before + 1);
    await running.api.gql('mutation ($id: ID!) { endChat(id: $id, reason: "enough") { id } }', {
      id: chat.id,
    });
    release();
    const jobs = "select from graphile_worker.jobs where task_identifier = 'chat.turn'";
    await until(async () => (await running.database.query(jobs)).length === 0);
    expect(functions.received).toHaveLength(before + 1);
    expect(await chatOf(chat.id)).toMatchObject({ endedReason: "enough", messages: [{ role: "ASSISTANT" }] });
  });

  test("after a function call of the model, in the same turn", async () => {
    functions.answer((res) => void res.end('"done"'));
    const [one, two] = [await speaker("One"), await speaker("Two")];
    const flow = await flowOf(
      {
        one: { type: "PROMPT", assistantId: one, resultVariable: "outcome" },
        two: { type: "PROMPT", assistantId: two, instructions: "It is {outcome}." },
        end: { type: "END" },
      },
      [
        ["start", "one"],
        ["one", "two", { kind: "FUNCTION", functionName: "look_up" }],
        ["two", "end", { kind: "VARIABLE", variable: "outcome", operator: "IS_NOT_SET" }],
      ],
    );
    const model = await asks(
      { call: "look_up", arguments: '{"order":"seven"}' },
      { call: "look_up", arguments: '{"order":7}' },
      { text: ["It is done."] },
    );
    const chat = await start({ workflowId: flow.workflowId });
    const answer = await post(chat.id, "Look it up");
    expect(answer).toMatchObject({ content: "It is done.", metadata: { workflowNodeName: "two" } });
    // An error about invalid arguments is not an answer of the function.
    expect(model.asked).toHaveLength(3);
    expect(systemOf(model.asked[1]!)).toContain("You are One.");
    expect(systemOf(model.asked[2]!)).toContain("You are Two.\n\nIt is done.");
  });

  test("to an end without a message: the posted message is the answer", async () => {
    const one = await speaker("One");
    const flow = await flowOf({ one: { type: "PROMPT", assistantId: one }, end: { type: "END" } }, [
      ["start", "one"],
      ["one", "end", { kind: "MODEL", description: "Is done." }],
    ]);
    const chat = await start({ workflowId: flow.workflowId });
    expect(await post(chat.id, "call:go_to_end")).toMatchObject({ role: "USER" });
    expect((await chatOf(chat.id)).endedReason).toBe("workflow-ended");
  });
});

describe("a change while a chat runs", () => {
  const running2 = async () => {
    const [one, two] = [await speaker("One"), await speaker("Two")];
    const flow = await flowOf(
      {
        one: { type: "PROMPT", assistantId: one },
        two: { type: "PROMPT", assistantId: two },
        end: { type: "END" },
      },
      [
        ["start", "one"],
        ["one", "two", { kind: "MODEL", description: "On." }],
        ["two", "end"],
      ],
    );
    return { flow, two, chat: await start({ workflowId: flow.workflowId }) };
  };
  const reason = async (id: string) => {
    await until(async () => (await chatOf(id)).status === "ended");
    return (await chatOf(id)).endedReason;
  };

  test("that deletes the workflow ends the chat", async () => {
    const { flow, chat } = await running2();
    await running.api.gql("mutation ($id: ID!) { deleteWorkflow(id: $id) { id } }", { id: flow.workflowId });
    expect(await reason(chat.id)).toBe("workflow-deleted");
    const { chat: after } = await running.api.gql(
      "query ($id: ID!) { chat(id: $id) { workflow { id } workflowNode { id } } }",
      { id: chat.id },
    );
    expect(after).toEqual({ workflow: null, workflowNode: null });
  });

  test("that deletes an assistant ends the chat when that assistant would speak", async () => {
    const { two, chat } = await running2();
    await running.api.delete(`/rest/v1/assistants/${two}`, 200);
    await post(chat.id, "call:go_to_two");
    expect(await reason(chat.id)).toBe("assistant-deleted");
  });

  test("that deletes the current node ends the chat, and its log says why", async () => {
    const { flow, chat } = await running2();
    await running.api.gql("mutation ($id: ID!) { deleteWorkflowNode(id: $id) { id } }", {
      id: flow.nodes.one,
    });
    await post(chat.id, "Hello");
    expect(await reason(chat.id)).toBe("workflow-stuck");
    const log = await running.api.get(`/rest/v1/assistants/${chat.assistant.id}/log/${chat.id}`, 200);
    expect(log.metadata.errors[0].message).toMatch(/No edge leads on/);
  });
});

test("events go to the destinations of the deployment's project, else of the workflow's, else of the assistant's", async () => {
  const { api } = running;
  const project = async (name: string) => {
    const receiver = await new Receiver().start();
    afterTest(() => receiver.stop());
    const { createProject } = await api.gql(
      "mutation ($name: String!) { createProject(input: { name: $name }) { id } }",
      { name },
    );
    await api.gql(
      "mutation ($input: CreateWebhookDestinationInput!) { createWebhookDestination(input: $input) { id } }",
      {
        input: { url: receiver.url, secret: "s", projectId: createProject.id },
      },
    );
    return { id: createProject.id as string, receiver };
  };
  const [ofAssistant, ofWorkflow, ofDeployment] = [
    await project("assistant"),
    await project("workflow"),
    await project("deployment"),
  ];
  const assistantId = await speaker("One");
  await api.gql(
    "mutation ($id: ID!, $projectId: ID) { updateAssistant(id: $id, input: { projectId: $projectId }) { id } }",
    {
      id: assistantId,
      projectId: ofAssistant.id,
    },
  );
  const flow = await newFlow(
    api,
    { start: { type: "START" }, one: { type: "PROMPT", assistantId }, end: { type: "END" } },
    [
      ["start", "one"],
      ["one", "end"],
    ],
  );
  const deploy = async (projectId: string | null) =>
    (
      await api.gql("mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }", {
        input: { type: "TEXT_BUBBLE", workflowId: flow.workflowId, projectId },
      })
    ).createDeployment.id as string;
  const heard = async (input: object) => {
    const before = [ofAssistant, ofWorkflow, ofDeployment].map(({ receiver }) => receiver.received.length);
    await start(input);
    await until(() =>
      [ofAssistant, ofWorkflow, ofDeployment].some(
        ({ receiver }, index) => receiver.received.length > before[index]!,
      ),
    );
    return [ofAssistant, ofWorkflow, ofDeployment].map(
      ({ receiver }, index) => receiver.received.length > before[index]!,
    );
  };
  const settle = () =>
    until(async () => {
      const { projects } = await api.gql(
        "{ projects { webhookDestinations { deliveries(status: PENDING) { nodes { id } } } } }",
      );
      return JSON.stringify(projects).includes('"id"') === false;
    });
  expect(await heard({ workflowId: flow.workflowId })).toEqual([true, false, false]);
  await settle();
  await api.gql(
    "mutation ($id: ID!, $projectId: ID) { updateWorkflow(id: $id, input: { projectId: $projectId }) { id } }",
    {
      id: flow.workflowId,
      projectId: ofWorkflow.id,
    },
  );
  expect(await heard({ deploymentId: await deploy(null) })).toEqual([false, true, false]);
  await settle();
  expect(await heard({ deploymentId: await deploy(ofDeployment.id) })).toEqual([false, false, true]);
});
