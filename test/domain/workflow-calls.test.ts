import { describe, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { ended, FAST, NUMBER, place, speaker } from "../support/calls";
import { UNKNOWN_ID } from "../support/factories";
import { buildFlow, newFlow } from "../support/flows";
import { Receiver } from "../support/receiver";
import { afterTest } from "../support/server";
import { until } from "../support/until";

const running = useApp({ ...FAST, CALL_SILENCE_SECONDS: "5" });

const CALL = `query ($id: ID!) { call(id: $id) { status endedReason workflow { id name } deployment { id type }
  assistant { id } chat { workflowNode { name } } } }`;
const PLACE = `mutation ($input: PlaceWorkflowCallInput!) { placeWorkflowCall(input: $input) { id workflow { id } deployment { id } } }`;
const DEPLOY = `mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { id } }`;

const deploy = async (input: object): Promise<string> =>
  (await running.api.gql(DEPLOY, { input })).createDeployment.id;
const callV2 = async (body: object) =>
  (await running.api.post("/rest/v2/call/phone", { phoneNumber: NUMBER.answers, ...body }, 200)).id as string;
const refusal = async (body: object, path = "/rest/v2/call/phone") => {
  const answer = await running.api.request("POST", path, { phoneNumber: NUMBER.answers, ...body });
  return { status: answer.status, ...answer.body };
};
interface SpokenMessage {
  readonly role: string;
  readonly content: string | null;
  readonly metadata: { readonly workflowNodeName?: string };
}
const talkOf = (call: { chat: { messages: readonly SpokenMessage[] } }): string[] =>
  call.chat.messages
    .filter(({ role, content }) => content !== null && role !== "TOOL")
    .map(({ role, content, metadata }) =>
      role === "USER" ? content! : `${metadata.workflowNodeName}: ${content}`,
    );

/** Two assistants in sequence, and a last message. */
async function twoSpeakers() {
  const desk = await speaker(running.api, {
    initialMessage: "This is the desk of {company}.",
    resources: "Parking is free.",
  });
  const booking = await speaker(running.api, {
    initialMessage: "Booking here.",
    resources: "Rooms cost twenty.",
    endCallPhrases: "",
  });
  const flow = await newFlow(
    running.api,
    {
      start: { type: "START" },
      desk: { type: "PROMPT", name: "Desk", assistantId: desk },
      book: { type: "PROMPT", name: "Booking", assistantId: booking },
      end: { type: "END", name: "Bye", message: "Thanks, {who}.", endReason: "all-said" },
    },
    [
      ["start", "desk"],
      ["desk", "book", { kind: "MODEL", description: "Wants a room.", collects: ["who"] }],
      ["book", "end", { kind: "MODEL", description: "Is done." }],
    ],
  );
  return { desk, flow };
}

describe("a call that runs a workflow", () => {
  test("moves from node to node; its log has the speaker of each message, and the end reason", async () => {
    const { desk, flow } = await twoSpeakers();
    const id = await callV2({
      workflowId: flow.workflowId,
      variables: { company: "Acme" },
      metadata: {
        simulatedCustomer: [
          "Is parking free?",
          'call:go_to_booking {"who": "Zoe"}',
          "What do rooms cost?",
          "call:go_to_bye",
          "Is anybody there?",
        ],
      },
    });
    const over = await ended(running.api, id);
    expect(talkOf(over)).toEqual([
      "Desk: This is the desk of Acme.",
      "Is parking free?",
      "Desk: Parking is free.",
      'call:go_to_booking {"who": "Zoe"}',
      "Booking: Booking here.",
      "What do rooms cost?",
      "Booking: Rooms cost twenty.",
      "call:go_to_bye",
      "Bye: Thanks, Zoe.",
    ]);
    const { call } = await running.api.gql(CALL, { id });
    expect(call).toEqual({
      status: "ended",
      endedReason: "all-said",
      workflow: { id: flow.workflowId, name: "Flow" },
      deployment: null,
      assistant: { id: desk },
      chat: { workflowNode: { name: "Bye" } },
    });
    const log = await running.api.get(`/rest/v1/assistants/${desk}/log/${id}`, 200);
    expect(log.metadata.endedReason).toBe("all-said");
    expect(log.messages.items[0].metadata).toMatchObject({
      workflowNodeId: flow.nodes.desk,
      workflowNodeName: "Desk",
    });
  });

  test("calls a function before the greeting, and is not dialed if the workflow ends there", async () => {
    const { api } = running;
    const functions = await new Receiver((res) => void res.end('{"open": false}')).start();
    afterTest(() => functions.stop());
    const assistantId = await speaker(api, {
      initialMessage: "Open: {now.open}.",
      functions: [{ name: "is_open", serverUrl: functions.url }],
    });
    const flow = await newFlow(
      api,
      {
        start: { type: "START" },
        ask: { type: "ACTION", assistantId, functionName: "is_open", resultVariable: "now" },
        open: { type: "CONDITION" },
        talk: { type: "PROMPT", assistantId },
        end: { type: "END", endReason: "closed" },
        bye: { type: "END" },
      },
      [
        ["start", "ask"],
        ["ask", "open"],
        ["open", "talk", { kind: "VARIABLE", variable: "now.open", operator: "EQUALS", value: "true" }],
        ["open", "end"],
        ["talk", "bye"],
      ],
    );
    const closed = await ended(api, await callV2({ workflowId: flow.workflowId }));
    expect(closed).toMatchObject({ endedReason: "closed", dialedAt: null });
    functions.answer((res) => void res.end('{"open": true}'));
    const open = await ended(
      api,
      await callV2({ workflowId: flow.workflowId, metadata: { simulatedCustomer: ["Hello"] } }),
    );
    expect(talkOf(open)[0]).toBe("talk: Open: true.");
    expect(open.endedReason).toBe("workflow-ended");
  });

  test("can be placed through GraphQL and with a deployment, and is found by both", async () => {
    const { api } = running;
    const { flow } = await twoSpeakers();
    const deploymentId = await deploy({ type: "PHONE_OUTBOUND", workflowId: flow.workflowId });
    const { placeWorkflowCall } = await api.gql(PLACE, { input: { deploymentId, phoneNumber: NUMBER.busy } });
    expect(placeWorkflowCall).toMatchObject({
      workflow: { id: flow.workflowId },
      deployment: { id: deploymentId },
    });
    const direct = await callV2({ workflowId: flow.workflowId });
    const found = async (filter: object) => {
      const { calls } = await api.gql(
        "query ($filter: CallFilter) { calls(filter: $filter) { nodes { id } } }",
        {
          filter,
        },
      );
      return calls.nodes.map(({ id }: { id: string }) => id);
    };
    expect(await found({ workflowId: flow.workflowId })).toEqual([direct, placeWorkflowCall.id]);
    expect(await found({ deploymentId })).toEqual([placeWorkflowCall.id]);
    expect(await found({ deploymentId: UNKNOWN_ID })).toEqual([]);
    expect((await ended(api, placeWorkflowCall.id)).endedReason).toBe("customer-busy");
  });

  test("uses a deployment that has an assistant instead of a workflow", async () => {
    const { api } = running;
    const assistantId = await speaker(api, { initialMessage: "Only me." });
    const deploymentId = await deploy({ type: "API", assistantId });
    const over = await ended(api, await callV2({ deploymentId }));
    expect(over.chat.messages[0].content).toBe("Only me.");
    expect(await place(api, assistantId, NUMBER.busy)).toEqual(expect.any(String));
  });

  test("from a web page is greeted by the first node", async () => {
    const { flow } = await twoSpeakers();
    const body = { workflowId: flow.workflowId, variables: { company: "Acme" } };
    const { webCallUrl } = await running.api
      .as({ "X-Public-Key": running.publicKey })
      .post("/rest/v2/call/web", body, 200);
    const id = new URL(webCallUrl).searchParams.get("chat");
    const { chat } = await running.api.gql(
      "query ($id: ID!) { chat(id: $id) { workflowNode { name } messages { content metadata } } }",
      { id },
    );
    expect(chat).toMatchObject({
      workflowNode: { name: "Desk" },
      messages: [{ content: "This is the desk of Acme.", metadata: { workflowNodeName: "Desk" } }],
    });
  });
});

describe("a call is refused, and none is stored,", () => {
  test("for an unknown workflow or deployment with 400", async () => {
    expect(await refusal({ workflowId: UNKNOWN_ID })).toMatchObject({
      status: 400,
      code: "WORKFLOW_NOT_FOUND",
    });
    expect(await refusal({ deploymentId: UNKNOWN_ID })).toMatchObject({
      status: 400,
      code: "DEPLOYMENT_NOT_FOUND",
    });
  });

  test("for none of the two, or both, with 400 that names the fields", async () => {
    for (const body of [{}, { workflowId: UNKNOWN_ID, deploymentId: UNKNOWN_ID }])
      expect(await refusal(body)).toMatchObject({
        status: 400,
        code: "BAD_USER_INPUT",
        details: [{ path: "workflowId" }, { path: "deploymentId" }],
      });
  });

  test("for a workflow with problems with 409 that lists them", async () => {
    const { workflowId, nodes } = await newFlow(running.api, {
      start: { type: "START" },
      talk: { type: "PROMPT" },
    });
    const before = await running.database.query("select count(*) from chats");
    for (const path of ["/rest/v2/call/phone", "/rest/v2/call/web"]) {
      const body = path.endsWith("web") ? { phoneNumber: undefined } : {};
      const refused = await refusal({ workflowId, ...body }, path);
      expect(refused).toMatchObject({ status: 409, code: "WORKFLOW_HAS_PROBLEMS" });
      expect(refused.details).toContainEqual({
        path: `nodes.${nodes.talk}`,
        message: 'PROMPT_WITHOUT_ASSISTANT: The PROMPT node "talk" has no assistant.',
      });
    }
    const deploymentId = await deploy({ type: "API", workflowId });
    expect(await refusal({ deploymentId })).toMatchObject({ status: 409, code: "WORKFLOW_HAS_PROBLEMS" });
    expect(await running.database.query("select count(*) from chats")).toEqual(before);
  });

  test.each(["TEXT_IFRAME", "TEXT_BUBBLE", "VOICE_BUBBLE", "VOICE_IFRAME", "SMS", "PHONE_INBOUND"])(
    "for a deployment of type %s with 409",
    async (type) => {
      const { workflowId } = await buildFlow(running.api, { assistantId: await speaker(running.api) });
      const deploymentId = await deploy({ type, workflowId });
      expect(await refusal({ deploymentId })).toMatchObject({ status: 409, code: "DEPLOYMENT_NOT_CALLABLE" });
    },
  );

  test("for a disabled deployment with 409", async () => {
    const deploymentId = await deploy({
      type: "PHONE_OUTBOUND",
      assistantId: await speaker(running.api),
      enabled: false,
    });
    expect(await refusal({ deploymentId })).toMatchObject({ status: 409, code: "DEPLOYMENT_NOT_CALLABLE" });
  });
});

test("deleting a workflow hangs up its calls", async () => {
  const { flow } = await twoSpeakers();
  const id = await callV2({ workflowId: flow.workflowId, phoneNumber: NUMBER.endless });
  await until(async () => (await running.api.gql(CALL, { id })).call.status === "in-progress");
  await running.api.gql("mutation ($id: ID!) { deleteWorkflow(id: $id) { id } }", { id: flow.workflowId });
  expect((await ended(running.api, id)).endedReason).toBe("workflow-deleted");
});
