import { beforeAll, beforeEach, expect, test } from "@jest/globals";
import { useApp } from "../support/app";
import { newChat, quietAssistant, say } from "../support/factories";
import { newFlow, problemsOf } from "../support/flows";
import { holdUpdates } from "../support/hold-updates";
import { Receiver } from "../support/receiver";
import {
  afterTest,
  afterTests,
  SERVER_TIMEOUT_MS,
  type ServerProcess,
  SETTINGS,
  startServer,
} from "../support/server";
import { until } from "../support/until";
import { answeredBy } from "../support/sms";
import { stubModel } from "../support/stub-model";

/** Starts chats. The servers that the tests start and kill run the workflows. */
const running = useApp({ WORKER: "off" });

/** The server that took over in one test is killed in the next. */
let last: ServerProcess;
const another = async () => {
  const env = {
    DATABASE_URL: running.database.ownerUrl,
    OUTBOUND_ALLOW: "127.0.0.0/8",
    TAKEOVER_SECONDS: "2",
  };
  last = await startServer({ ...SETTINGS, ...env }, afterTests);
};
beforeAll(another, SERVER_TIMEOUT_MS);

/** Answers the assistant's function. */
let shop: Receiver;
let assistantId: string;
let workflowId: string;
let chatId: string;
beforeEach(async () => {
  const { api } = running;
  shop = await new Receiver().start();
  afterTest(() => shop.stop());
  assistantId = await quietAssistant(api);
  const ordering = { name: "order", parameters: { type: "object", properties: {} }, serverUrl: shop.url };
  await api.patch(
    `/rest/v1/assistants/${assistantId}/chat`,
    { functions: [ordering], initialMessage: "Ordered as {number}." },
    200,
  );
  const flow = await newFlow(
    api,
    {
      start: { type: "START" },
      order: { type: "ACTION", assistantId, functionName: "order", resultVariable: "number" },
      talk: { type: "PROMPT", assistantId },
      end: { type: "END" },
    },
    [
      ["start", "order"],
      ["order", "talk"],
      ["talk", "end"],
    ],
  );
  expect(await problemsOf(api, flow.workflowId)).toEqual([]);
  workflowId = flow.workflowId;
});

/** Starts a chat whose first node, an ACTION, calls the function. */
async function order(): Promise<void> {
  const start = "mutation ($input: StartChatInput!) { startChat(input: $input) { id } }";
  chatId = (await running.api.gql(start, { input: { workflowId } })).startChat.id;
}

const CHAT = `query ($id: ID!) { chat(id: $id) { variables workflowNode { name }
  messages(last: 50) { role content toolCalls } } }`;
const chat = async () => (await running.api.gql(CHAT, { id: chatId })).chat;
const idsAsked = () => shop.received.map(({ headers, body }) => [headers["idempotency-key"], body.id]);

/** Expects one recorded call of the function, and that the workflow has used its answer. */
async function expectOneCall(answer: string): Promise<void> {
  await until(async () => (await chat()).messages.length === 3);
  expect(await chat()).toMatchObject({
    variables: { number: answer },
    workflowNode: { name: "talk" },
    messages: [
      { role: "ASSISTANT", toolCalls: [{ name: "order", id: idsAsked()[0]![0] }] },
      { role: "TOOL", content: answer },
      { role: "ASSISTANT", content: `Ordered as ${answer}.` },
    ],
  });
  const EVENTS = `query ($id: ID!) { events(first: 50, filter: { chatId: $id }) { nodes { name } } }`;
  const { nodes } = (await running.api.gql(EVENTS, { id: chatId })).events;
  expect(nodes.filter(({ name }: { name: string }) => name === "function-call")).toHaveLength(1);
}

test(
  "an ACTION's function whose server is killed while it runs is called again under the same id",
  async () => {
    shop.answer((res, _, number) => void (number > 1 && res.end('"A-2"')));
    await order();
    await shop.until(1);
    await last.end("SIGKILL");
    await another();
    await expectOneCall("A-2");
    const [id] = idsAsked()[0]!;
    expect(id).toMatch(/^call_/);
    expect(idsAsked()).toEqual([
      [id, id],
      [id, id],
    ]);
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "an ACTION's function whose server is killed after the answer, before it is stored, is not called again",
  async () => {
    shop.answer((res) => void res.end('"A-1"'));
    const held = await holdUpdates(running.database, "chats", "new.variables is distinct from old.variables");
    await order();
    await until(async () => (await chat()).messages.length === 2);
    expect((await chat()).variables).toEqual({});
    await last.end("SIGKILL");
    await held.end();
    await another();
    await expectOneCall("A-1");
    expect(shop.received).toHaveLength(1);
  },
  3 * SERVER_TIMEOUT_MS,
);

test(
  "a model's function whose server is killed while it runs is reported to the model as unknown",
  async () => {
    shop.answer(() => undefined);
    const model = await stubModel({ call: "order", arguments: "{}" }, { text: ["I'll ask the shop."] });
    afterTest(model.stop);
    await answeredBy(running, model);
    await running.api.patch(`/rest/v1/assistants/${assistantId}/chat`, { initialMessage: "" }, 200);
    chatId = await newChat(running.api, assistantId);
    await say(running.api, chatId, "Order one.", "USER");
    await until(() => model.asked.length === 1 && shop.received.length > 0);
    await last.end("SIGKILL");
    await another();
    await until(async () => (await chat()).messages.at(-1).content === "I'll ask the shop.");
    expect(model.asked[1]!.messages.slice(1)).toMatchObject([
      { role: "user", content: "Order one." },
      { role: "assistant", tool_calls: [{ id: expect.any(String) }] },
      { role: "tool", content: expect.stringContaining("unknown") },
    ]);
  },
  3 * SERVER_TIMEOUT_MS,
);
